package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.bench.WireShapes;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.net.HeapBytes;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A body to what routing needs of it, for the two prompt lengths of the load comparison. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class RequestBench {
    @Param({"750", "6000"})
    public int words;

    /** A line break every twelve words; without any, a text is copied as it is. */
    @Param({"false", "true"})
    public boolean escapes;

    private final MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    private final RequestScanner scanner = new RequestScanner();
    private Buffer body;
    private byte[] bytes;

    @Setup
    public void build() {
        bytes = WireShapes.chat(words, escapes);
        body = Buffer.buffer(bytes);
        if (!scan()) {
            throw new IllegalStateException("the scanner does not take this body");
        }
    }

    @Benchmark
    public InferenceRequest parse() {
        return RequestParser.parse(
                RequestParser.Endpoint.CHAT,
                "id",
                "/v1/chat/completions",
                headers,
                body,
                new RequestParser.Terms(false, true, false));
    }

    /** The same by the parser that reads unusual bodies. */
    @Benchmark
    public InferenceRequest parseWithJackson() {
        return RequestParser.slowly(RequestParser.Endpoint.CHAT, HeapBytes.of(body))
                .request(
                        RequestParser.Endpoint.CHAT,
                        "id",
                        "/",
                        headers,
                        body,
                        new RequestParser.Terms(false, true, false));
    }

    /** What of {@link #parse} is not the making of texts. */
    @Benchmark
    public boolean scan() {
        return scanner.scan(bytes, 0, bytes.length, true);
    }
}
