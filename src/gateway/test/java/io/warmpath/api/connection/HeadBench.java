package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.warmpath.net.server.ServerReading;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The head of a chat, as OpenAI's client for Python writes it: by the inlet, and by decoders. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class HeadBench {
    private static final int REQUESTS = 64;
    private static final String REQUEST =
            String.join(
                    "\r\n",
                    "POST /v1/chat/completions HTTP/1.1",
                    "Host: 127.0.0.1:8000",
                    "Accept-Encoding: gzip, deflate",
                    "Connection: keep-alive",
                    "Accept: application/json",
                    "Content-Type: application/json",
                    "User-Agent: OpenAI/Python 3.52.0",
                    "X-Stainless-Lang: python",
                    "X-Stainless-OS: Linux",
                    "X-Stainless-Arch: x64",
                    "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
                    "Content-Length: 13",
                    "",
                    "{\"model\":\"m\"}");

    private static final int[] ONE_READ = {};

    private byte[] one;
    private byte[] many;

    @Setup
    public void build() throws Exception {
        one = REQUEST.getBytes(StandardCharsets.US_ASCII);
        many = REQUEST.repeat(REQUESTS).getBytes(StandardCharsets.US_ASCII);
        if (inlet() == null || vertx() != REQUESTS || strict() != REQUESTS) {
            throw new IllegalStateException("a reader does not take this request");
        }
    }

    /** Past the codec. */
    @Benchmark
    public Object inlet() {
        return RawHead.read(one, one.length);
    }

    /** Vert.x' decoder, per request. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public int vertx() throws Exception {
        return read(ServerReading.Rules.VERTX);
    }

    /** The same with the grammar beside it. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public int strict() throws Exception {
        return read(ServerReading.Rules.STRICT);
    }

    private int read(ServerReading.Rules rules) throws Exception {
        Ends ends = new Ends();
        ServerReading.read(rules, many, many.length, ONE_READ, ends);
        return ends.count;
    }

    private static final class Ends implements ServerReading.Seen {
        private int count;

        @Override
        public void head(HttpRequest request, int from, int to) {}

        @Override
        public void body(ByteBuf content) {}

        @Override
        public void end(int at) {
            count++;
        }
    }
}
