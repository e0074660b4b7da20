package io.warmpath.wiring;

import io.vertx.core.Vertx;
import io.warmpath.admission.Admission;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.load.LoadTracker;
import io.warmpath.wiring.settings.AdmissionSetup;

/** Admission, and the timer that looks at its queue for what it is not told of. */
final class AdmissionParts implements AutoCloseable {
    private static final long QUEUE_CHECK_MILLIS = 100;

    private final Vertx vertx;
    private final Admission admission;
    private long queueTimer = -1;

    /** Throws {@link io.warmpath.wiring.settings.StartFailure} when a setting cannot be used. */
    AdmissionParts(WarmpathConfig config, Vertx vertx, LoadTracker load) {
        this.vertx = vertx;
        admission = new Admission(AdmissionSetup.options(config), load, System::nanoTime);
    }

    Admission admission() {
        return admission;
    }

    /** A new worker, a booking that expired: the queue is looked at every 100 ms. */
    void start() {
        if (admission.queueing()) {
            queueTimer = vertx.setPeriodic(QUEUE_CHECK_MILLIS, id -> admission.wake());
        }
    }

    @Override
    public void close() {
        vertx.cancelTimer(queueTimer);
    }
}
