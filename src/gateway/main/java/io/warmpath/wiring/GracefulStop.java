package io.warmpath.wiring;

import io.quarkus.runtime.shutdown.ShutdownListener;
import io.quarkus.runtime.shutdown.ShutdownRecorder;
import io.warmpath.api.connection.RawRequests;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes the runtime's graceful stop, which waits for the requests that came through its own server,
 * wait for those that went past it as well, and behind them let go of clients, which the runtime
 * would just cut off; for no longer. Only extensions of Quarkus may say that they want to be waited
 * for, at build time. So this replaces the list that Quarkus keeps, between the word that the
 * process is to stop and the wait. What is touched here is all that it does not promise; the test
 * fails when a version changes it.
 */
final class GracefulStop implements ShutdownListener {
    private static final String LISTENERS = "shutdownListeners";

    private final List<ShutdownListener> known;
    private final List<RawRequests> requests;
    private final Duration grace;
    private final Clients clients;

    /** Those who are connected. */
    interface Clients {
        /** Lets go of them, once they are quiet for so long; {@code gone} on any thread. */
        void letGo(Duration quiet, Runnable gone);
    }

    private GracefulStop(
            List<ShutdownListener> known,
            List<RawRequests> requests,
            Duration grace,
            Clients clients) {
        this.known = known;
        this.requests = requests;
        this.grace = grace;
        this.clients = clients;
    }

    /** {@link #waitFor} will work with this version of Quarkus. */
    static boolean isPossible() {
        try {
            Field listeners = listeners();
            return listeners.get(null) == null || listeners.get(null) instanceof List;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return false;
        }
    }

    /**
     * Once the process was told to stop, and before the runtime waits.
     *
     * @param grace for how long the runtime will wait
     * @param clients are let go when all requests have ended, and shortly before the grace has
     * @throws IllegalStateException when it is not {@link #isPossible}
     */
    static void waitFor(List<RawRequests> requests, Duration grace, Clients clients) {
        try {
            Field listeners = listeners();
            List<ShutdownListener> known =
                    listeners.get(null) instanceof List<?> all
                            ? all.stream().map(ShutdownListener.class::cast).toList()
                            : List.of();
            listeners.set(null, List.of(new GracefulStop(known, requests, grace, clients)));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Quarkus keeps its list of listeners elsewhere", e);
        }
    }

    private static Field listeners() throws NoSuchFieldException {
        Field field = ShutdownRecorder.class.getDeclaredField(LISTENERS);
        field.setAccessible(true);
        return field;
    }

    /** How long clients have for a last request, of this grace. */
    static Duration lastCall(Duration grace) {
        Duration quarter = grace.dividedBy(4);
        Duration second = Duration.ofSeconds(1);
        return quarter.compareTo(second) < 0 ? quarter : second;
    }

    /** The wait begins; {@code notification} ends it, on any thread. */
    @Override
    public void shutdown(ShutdownNotification notification) {
        Duration last = lastCall(grace);
        Runnable letGo = once(() -> clients.letGo(last, notification::done));
        AtomicInteger running = new AtomicInteger(known.size() + requests.size() + 1);
        Runnable ended =
                () -> {
                    if (running.decrementAndGet() == 0) {
                        letGo.run();
                    }
                };
        known.forEach(listener -> listener.shutdown(once(ended)::run));
        requests.forEach(all -> all.closed(once(ended)));
        ended.run(); // where there are none
        CompletableFuture.delayedExecutor(grace.minus(last).toNanos(), TimeUnit.NANOSECONDS)
                .execute(letGo);
    }

    private static Runnable once(Runnable action) {
        AtomicBoolean done = new AtomicBoolean();
        return () -> {
            if (done.compareAndSet(false, true)) {
                action.run();
            }
        };
    }
}
