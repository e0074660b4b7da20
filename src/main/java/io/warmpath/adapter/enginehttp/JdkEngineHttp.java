package io.warmpath.adapter.enginehttp;

import io.warmpath.fleet.EngineHttp;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * GET requests over the JDK's HTTP client, apart from the pools of the streaming path so that a
 * health check never waits behind requests.
 *
 * <p>Any thread, blocks up to the time-out; meant for virtual threads.
 */
public final class JdkEngineHttp implements EngineHttp, AutoCloseable {
    /** vLLM's /metrics, the longest answer read, has some 100 KiB. */
    private static final int MAX_ANSWER_BYTES = 8 << 20;

    private final Duration timeout;
    private final Supplier<SSLContext> tls;
    private final HttpClient plain;
    // Guarded by this; null until the first worker with TLS: reading the trust store takes long at
    // start.
    private @Nullable HttpClient secure;

    /**
     * @param timeout of a whole exchange, the body included
     * @param tls asked once, at the first worker with TLS
     */
    public JdkEngineHttp(Duration timeout, Supplier<SSLContext> tls) {
        this.timeout = timeout;
        this.tls = tls;
        this.plain = client().sslContext(trustingNobody()).build();
    }

    private HttpClient.Builder client() {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER);
    }

    /** For the client that never speaks TLS; one that did would trust no certificate. */
    private static SSLContext trustingNobody() {
        try {
            SSLContext none = SSLContext.getInstance("TLS");
            none.init(new KeyManager[0], new TrustManager[0], null);
            return none;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK has no TLS", e);
        }
    }

    private HttpClient clientFor(URI worker) {
        if ("http".equalsIgnoreCase(worker.getScheme())) {
            return plain;
        }
        synchronized (this) {
            HttpClient client = secure;
            if (client == null) {
                client = client().sslContext(tls.get()).build();
                secure = client;
            }
            return client;
        }
    }

    @Override
    public Answer get(URI worker, String path) throws IOException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(worker + path)).timeout(timeout).GET().build();
        CompletableFuture<HttpResponse<String>> exchange =
                clientFor(worker)
                        .sendAsync(
                                request,
                                BodyHandlers.limiting(
                                        BodyHandlers.ofString(StandardCharsets.UTF_8),
                                        MAX_ANSWER_BYTES));
        try {
            // The request's own time-out ends with the headers; a body that never ends must not
            // hold us either.
            HttpResponse<String> r = exchange.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return new Answer(r.statusCode(), r.body());
        } catch (TimeoutException e) {
            exchange.cancel(true);
            throw late(e);
        } catch (InterruptedException e) {
            exchange.cancel(true);
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        } catch (ExecutionException e) {
            throw explained(e.getCause());
        }
    }

    private IOException explained(@Nullable Throwable cause) {
        return switch (cause) {
            case HttpConnectTimeoutException e -> late(e); // not refused: the host is silent
            case ConnectException e -> unconnected(e);
            case HttpTimeoutException e -> late(e);
            case IOException e -> new IOException(String.valueOf(e.getMessage()), e);
            case null -> new IOException("failed without a cause");
            default -> new IOException(cause.toString(), cause);
        };
    }

    /**
     * Only a refusal says that the process is gone; a name or a route that is missing for a while
     * does not. The client gives a refusal no message, and hides an unknown name in the cause.
     */
    private static IOException unconnected(ConnectException e) {
        if (e.getCause() instanceof UnresolvedAddressException) {
            return new IOException("the host name cannot be resolved", e);
        }
        String message = e.getMessage();
        if (message != null && !message.contains("refused")) {
            return new IOException(message, e);
        }
        ConnectException refused = new ConnectException("connection refused");
        refused.initCause(e);
        return refused;
    }

    private IOException late(Exception cause) {
        return new IOException("no answer within " + timeout.toMillis() + " ms", cause);
    }

    @Override
    public synchronized void close() {
        HttpClient https = secure;
        if (https != null) {
            https.shutdownNow();
            https.close();
        }
        plain.shutdownNow();
        plain.close();
    }
}
