package io.warmpath.wiring.tokens;

import io.vertx.core.Vertx;
import io.warmpath.tokens.ModelTokens;
import java.time.Duration;
import org.jboss.logging.Logger;

/** Looks at models' files from time to time, on Vert.x's workers. */
final class ModelReloads implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ModelReloads.class);

    private final Vertx vertx;
    private final ModelTokens tokens;
    private final Duration interval;
    private volatile long timer = -1;
    private volatile boolean closed;

    /** {@code interval}: zero: never. */
    ModelReloads(Vertx vertx, ModelTokens tokens, Duration interval) {
        this.vertx = vertx;
        this.tokens = tokens;
        this.interval = interval;
    }

    void start() {
        if (!interval.isZero()) {
            schedule();
        }
    }

    /** The next look is an interval after the end of the last, however long that took. */
    private void schedule() {
        if (!closed) {
            timer = vertx.setTimer(interval.toMillis(), id -> look());
        }
    }

    private void look() {
        vertx.<Void>executeBlocking(
                        () -> {
                            tokens.reloadChanged();
                            return null;
                        },
                        false)
                .onFailure(e -> LOG.error("Models' files could not be looked at", e))
                .onComplete(done -> schedule());
    }

    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(timer);
    }
}
