package io.warmpath.wiring.engines;

import io.vertx.core.Vertx;
import io.warmpath.access.Budgets;
import io.warmpath.adapter.jwt.IssuerKeys;
import io.warmpath.adapter.jwt.JwtClients;
import io.warmpath.adapter.jwt.JwtOptions;
import io.warmpath.adapter.jwt.KeySetUrl;
import io.warmpath.config.http.JwtConfig;
import io.warmpath.wiring.settings.StartFailure;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Clients by tokens, and the keys of their issuer looked at from time to time; both on virtual
 * threads, so that no event loop waits for an issuer.
 */
final class JwtParts implements AutoCloseable {
    /** Of users that come and go; apart from the budgets of keys, which they cannot push out. */
    private static final int MAX_BUDGETS = 100_000;

    private final Vertx vertx;
    private final IssuerKeys keys;
    private final @Nullable KeySetUrl url;
    private final JwtClients clients;
    private final Budgets budgets = new Budgets(MAX_BUDGETS);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private volatile long timer = -1;
    private volatile boolean closed;

    /**
     * @param jwks file or URL
     * @param fileInterval how often a file is read again
     * @throws StartFailure when something cannot be used; an issuer that does not answer is no
     *     reason
     */
    JwtParts(String jwks, JwtConfig config, Duration fileInterval, Vertx vertx) {
        this.vertx = vertx;
        boolean remote = jwks.contains("://");
        try {
            url = remote ? new KeySetUrl(URI.create(jwks)) : null;
            Path file = remote ? null : Path.of(jwks);
            keys =
                    new IssuerKeys(
                            file == null && url != null ? url : () -> Files.readString(file),
                            jwks,
                            remote ? config.refreshInterval() : fileInterval,
                            System::nanoTime);
            if (!remote) {
                keys.refresh();
                if (keys.isEmpty()) {
                    throw new StartFailure(
                            "the file " + jwks + " (--jwks) has no public keys that can be read");
                }
            }
            clients =
                    new JwtClients(
                            options(config),
                            keys,
                            budgets,
                            threads,
                            InstantSource.system(),
                            System::nanoTime);
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.auth.jwt: " + e.getMessage());
        }
    }

    private static JwtOptions options(JwtConfig c) {
        return new JwtOptions(
                c.issuer().orElse(""),
                c.audience().orElse(List.of()),
                c.algorithms(),
                c.leeway(),
                c.cacheTime(),
                c.tenantClaim().orElse(null),
                c.modelsClaim().orElse(null),
                c.requestsClaim().orElse(null),
                c.tokensClaim().orElse(null),
                c.weightClaim().orElse(null),
                c.requestsPerMinute(),
                c.tokensPerMinute());
    }

    JwtClients clients() {
        return clients;
    }

    /** What clients with a limit have left, those seen last first. */
    List<Budgets.Left> limits(int most, long now) {
        return budgets.left(most, now);
    }

    void start() {
        look();
    }

    private void look() {
        if (!closed) {
            threads.execute(
                    () -> {
                        Duration again = keys.refresh();
                        if (!closed) {
                            timer = vertx.setTimer(Math.max(1, again.toMillis()), id -> look());
                        }
                    });
        }
    }

    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(timer);
        threads.shutdownNow();
        if (url != null) {
            url.close();
        }
    }
}
