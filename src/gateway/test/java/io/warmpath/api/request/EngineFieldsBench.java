package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.warmpath.net.HeaderList;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The headers of OpenAI's client for Python, looked through for what is not a client's to say. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class EngineFieldsBench {
    private static final String[] NAMES = {
        "Host",
        "Accept-Encoding",
        "Connection",
        "Accept",
        "Content-Type",
        "User-Agent",
        "X-Stainless-Lang",
        "X-Stainless-Package-Version",
        "X-Stainless-OS",
        "X-Stainless-Arch",
        "X-Stainless-Runtime",
        "X-Stainless-Runtime-Version",
        "X-Stainless-Async",
        "X-Stainless-Retry-Count",
        "Content-Length"
    };

    private final MultiMap past = fill(new HeaderList());
    private final MultiMap codec = fill(HttpHeaders.headers());

    private static MultiMap fill(MultiMap headers) {
        for (String name : NAMES) {
            headers.add(name, "value");
        }
        return headers;
    }

    /** Headers as the inlet past the codec has them. */
    @Benchmark
    public MultiMap past() {
        EngineFields.refuse(null, past);
        return past;
    }

    /** Headers as the server's codec has them. */
    @Benchmark
    public MultiMap codec() {
        EngineFields.refuse(null, codec);
        return codec;
    }
}
