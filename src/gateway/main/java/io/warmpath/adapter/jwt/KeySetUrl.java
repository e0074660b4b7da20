package io.warmpath.adapter.jwt;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** A key set behind HTTP. Blocks; follows no redirect, reads no more than a key set can have. */
public final class KeySetUrl implements IssuerKeys.Source, AutoCloseable {
    private static final int MAX_BYTES = 1 << 20;

    private final URI url;
    private final HttpClient http;

    /** Throws {@link IllegalArgumentException} when it is not https, or http on this machine. */
    public KeySetUrl(URI url) {
        boolean local =
                "http".equals(url.getScheme())
                        && ("127.0.0.1".equals(url.getHost())
                                || "localhost".equals(url.getHost())
                                || "[::1]".equals(url.getHost()));
        if (url.getHost() == null || (!"https".equals(url.getScheme()) && !local)) {
            throw new IllegalArgumentException(
                    "a URL of keys must be https: whoever can change the answer could issue"
                            + " tokens");
        }
        this.url = url;
        this.http =
                HttpClient.newBuilder()
                        .connectTimeout(Duration.ofMillis(IssuerKeys.timeoutMillis()))
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .build();
    }

    @Override
    public String read() throws IOException {
        HttpRequest request =
                HttpRequest.newBuilder(url)
                        .timeout(Duration.ofMillis(IssuerKeys.timeoutMillis()))
                        .header("accept", "application/json")
                        .build();
        try {
            HttpResponse<String> answer =
                    http.send(request, BodyHandlers.limiting(BodyHandlers.ofString(), MAX_BYTES));
            if (answer.statusCode() != 200) {
                throw new IOException("status " + answer.statusCode());
            }
            return answer.body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
