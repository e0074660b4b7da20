package io.warmpath.api;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.bench.WireShapes;
import io.warmpath.gateway.InferenceRequest;
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
    private Buffer body;

    @Setup
    public void build() {
        body = Buffer.buffer(WireShapes.chat(words, escapes));
    }

    @Benchmark
    public InferenceRequest parse() {
        return RequestParser.parse(
                RequestParser.Endpoint.CHAT, "id", "/v1/chat/completions", headers, body, false);
    }
}
