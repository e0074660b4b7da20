package io.warmpath.gateway.selfcheck;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one {@link Drift}. Any thread.
 *
 * <p>Holds two requests at most: one under way, and one whose answer differed.
 */
final class Track {
    final Drift drift;
    final LengthRecord record;
    final SelfCheckMeters meters;

    /** Whose answer is waited for; one that never comes is replaced after a while. */
    final AtomicReference<@Nullable Witness> waiting = new AtomicReference<>();

    /** The last whose length differed. */
    final AtomicReference<@Nullable Witness> proof = new AtomicReference<>();

    /** The warning was given without saying where prompts part. */
    volatile boolean owed;

    Track(Drift drift, LengthRecord record, SelfCheckMeters meters) {
        this.drift = drift;
        this.record = record;
        this.meters = meters;
    }

    /** Something has differed lately, so a request is worth being kept. */
    boolean wantsWitness() {
        return owed || (record.trusted() && record.differing() > 0);
    }
}
