package io.warmpath.wiring;

import io.quarkus.runtime.shutdown.ShutdownListener;
import io.quarkus.runtime.shutdown.ShutdownRecorder;
import io.warmpath.api.connection.RawRequests;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the runtime's graceful stop, which waits for the requests that came through its own server,
 * wait for those that went past it as well; for no longer. Only extensions of Quarkus may say that
 * they want to be waited for, at build time. So this adds to the list that Quarkus keeps, between
 * the word that the process is to stop and the wait. What is touched here is all that it does not
 * promise; the test fails when a version changes it.
 */
final class GracefulStop implements ShutdownListener {
    private static final String LISTENERS = "shutdownListeners";

    private final RawRequests requests;

    private GracefulStop(RawRequests requests) {
        this.requests = requests;
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
     * @throws IllegalStateException when it is not {@link #isPossible}
     */
    static void waitFor(RawRequests requests) {
        try {
            Field listeners = listeners();
            List<ShutdownListener> all = new ArrayList<>();
            if (listeners.get(null) instanceof List<?> known) {
                known.forEach(l -> all.add((ShutdownListener) l));
            }
            all.add(new GracefulStop(requests));
            listeners.set(null, List.copyOf(all));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Quarkus keeps its list of listeners elsewhere", e);
        }
    }

    private static Field listeners() throws NoSuchFieldException {
        Field field = ShutdownRecorder.class.getDeclaredField(LISTENERS);
        field.setAccessible(true);
        return field;
    }

    /** The wait begins; {@code notification} ends it, on any thread. */
    @Override
    public void shutdown(ShutdownNotification notification) {
        requests.closed(notification::done);
    }
}
