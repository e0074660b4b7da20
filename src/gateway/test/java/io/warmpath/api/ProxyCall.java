package io.warmpath.api;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.warmpath.api.extproc.GrpcFrames;
import io.warmpath.api.extproc.ProxyMessages;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One gRPC call of a proxy to the picker, over HTTP/2 in clear text. From the test's thread. */
final class ProxyCall implements AutoCloseable {
    private static final int MOST = 64 << 20;
    private static final long SECONDS = 10;

    private final HttpClientRequest request;
    private volatile @Nullable HttpClientResponse response;
    private final BlockingQueue<ProxyMessages.Answer> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> raw = new LinkedBlockingQueue<>();

    /** The status that the call has ended with; -1: it was reset. */
    final CompletableFuture<Integer> status = new CompletableFuture<>();

    /** What can be called over one connection. */
    static HttpClient client(Vertx vertx) {
        return vertx.createHttpClient(
                new HttpClientOptions()
                        .setProtocolVersion(HttpVersion.HTTP_2)
                        .setHttp2ClearTextUpgrade(false)
                        .setHttp2MaxPoolSize(1));
    }

    static ProxyCall process(HttpClient client, int port) throws Exception {
        return new ProxyCall(
                client, port, "/envoy.service.ext_proc.v3.ExternalProcessor/Process", true);
    }

    /**
     * @param processes its answers are a picker's
     */
    ProxyCall(HttpClient client, int port, String method, boolean processes) throws Exception {
        GrpcFrames frames =
                new GrpcFrames(
                        MOST,
                        (b, from, length) -> {
                            if (processes) {
                                answers.add(ProxyMessages.read(b, from, length));
                            } else {
                                raw.add(java.util.Arrays.copyOfRange(b, from, from + length));
                            }
                        });
        request =
                client.request(
                                new RequestOptions()
                                        .setMethod(HttpMethod.POST)
                                        .setHost("127.0.0.1")
                                        .setPort(port)
                                        .setURI(method)
                                        .putHeader("content-type", "application/grpc"))
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(SECONDS, TimeUnit.SECONDS);
        request.setChunked(true);
        request.exceptionHandler(e -> status.complete(-1));
        request.response()
                .onSuccess(
                        response -> {
                            this.response = response;
                            response.exceptionHandler(e -> status.complete(-1));
                            response.handler(
                                    bytes -> {
                                        byte[] b = bytes.getBytes();
                                        frames.add(b, 0, b.length);
                                    });
                            response.endHandler(
                                    v ->
                                            status.complete(
                                                    Integer.valueOf(
                                                            response.getTrailer("grpc-status"))));
                        });
        request.sendHead();
    }

    ProxyCall send(byte[] frame) {
        request.write(Buffer.buffer(frame));
        return this;
    }

    ProxyMessages.Answer answer() throws InterruptedException {
        ProxyMessages.Answer answer = answers.poll(SECONDS, TimeUnit.SECONDS);
        if (answer == null) {
            throw new AssertionError("no answer in " + SECONDS + " s");
        }
        return answer;
    }

    byte[] message() throws InterruptedException {
        byte[] message = raw.poll(SECONDS, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("no message in " + SECONDS + " s");
        }
        return message;
    }

    boolean isSilent() {
        return answers.isEmpty();
    }

    /** Answers are left where they are. */
    void takesNothing() {
        Objects.requireNonNull(response).pause();
    }

    /** No more requests. */
    int ends() throws Exception {
        request.end();
        return status.get(SECONDS, TimeUnit.SECONDS);
    }

    void reset() {
        request.reset(2); // as Envoy does: INTERNAL_ERROR
    }

    @Override
    public void close() {
        if (!status.isDone()) {
            request.reset();
        }
    }
}
