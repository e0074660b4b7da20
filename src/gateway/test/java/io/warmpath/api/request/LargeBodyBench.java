package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.bench.WireShapes;
import io.warmpath.gateway.request.InferenceRequest;
import java.nio.charset.StandardCharsets;
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

/** A chat of two megabytes to what routing needs of it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LargeBodyBench {
    private static final int BYTES = 2_000_000;

    /** What the two megabytes are. */
    public enum What {
        TEXT,
        LINES,
        CHINESE,
        TOOLS,
        IMAGES
    }

    @Param public What what;

    private final MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    private Buffer body;

    @Setup
    public void build() {
        body =
                switch (what) {
                    case TEXT -> Buffer.buffer(WireShapes.chat(BYTES / 8, false));
                    case LINES -> Buffer.buffer(WireShapes.chat(BYTES / 8, true));
                    case CHINESE -> text("\"" + "缓存命中".repeat(BYTES / 12) + "\"", "");
                    case TOOLS ->
                            text(
                                    "\"Which tool?\"",
                                    ",\"tools\":["
                                            + tool().repeat(BYTES / tool().length())
                                            + "{}]");
                    case IMAGES ->
                            text(
                                    "[" + image().repeat(4) + "{\"type\":\"text\",\"text\":\"?\"}]",
                                    "");
                };
    }

    private static String tool() {
        return "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
                + "\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"of a file\"}}}}},";
    }

    private static String image() {
        return "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,"
                + "iVBORw0KGgoAAAANSUhEUgAA".repeat(BYTES / 4 / 24)
                + "\"}},";
    }

    private static Buffer text(String content, String more) {
        String json =
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
                        + content
                        + "}]"
                        + more
                        + ",\"stream\":true}";
        return Buffer.buffer(json.getBytes(StandardCharsets.UTF_8));
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
}
