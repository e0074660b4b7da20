package io.warmpath.gateway.request;

import io.vertx.core.Context;
import io.warmpath.net.Deadlines;
import io.warmpath.net.LoopDeadlines;
import io.warmpath.net.server.ClientLimits;
import java.time.Duration;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request whose body comes too slowly over HTTP/2, where the connection tells nothing of
 * single streams. Each span must bring {@link ClientLimits#leastBytes(long)}. Any thread; a {@link
 * Watch} on its request's event loop.
 */
public final class BodyPace {
    private final Duration span;
    private final LongSupplier nanoTime;
    private final @Nullable LoopDeadlines loops;
    private final long least;

    /** {@code span}: zero: no client is too slow. */
    public BodyPace(Duration span, LongSupplier nanoTime) {
        this.span = span;
        this.nanoTime = nanoTime;
        this.loops = span.isZero() ? null : new LoopDeadlines(span, nanoTime);
        this.least = ClientLimits.leastBytes(span.toNanos());
    }

    public Duration span() {
        return span;
    }

    /**
     * @param received bytes of the body so far
     * @param tooSlow called once, unless {@link Watch#end} comes first
     * @return null: it may take its time
     */
    public @Nullable Watch watch(Context context, IntSupplier received, Runnable tooSlow) {
        return loops == null ? null : new Watch(loops.of(context), received, tooSlow);
    }

    /** One body. */
    public final class Watch extends Deadlines.Entry {
        private final Deadlines deadlines;
        private final IntSupplier received;
        private final Runnable tooSlow;
        private int seen;

        private Watch(Deadlines deadlines, IntSupplier received, Runnable tooSlow) {
            this.deadlines = deadlines;
            this.received = received;
            this.tooSlow = tooSlow;
            begin();
        }

        private void begin() {
            deadline(nanoTime.getAsLong(), span.toNanos());
            deadlines.add(this);
        }

        @Override
        protected void expired() {
            int now = received.getAsInt();
            if (now - seen < least) {
                tooSlow.run();
                return;
            }
            seen = now;
            begin();
        }

        /** It is complete, or its client has gone; harmless when called again. */
        public void end() {
            deadlines.remove(this);
        }
    }
}
