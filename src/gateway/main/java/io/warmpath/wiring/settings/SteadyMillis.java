package io.warmpath.wiring.settings;

import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * Milliseconds since 1970 for what lasts for a while: read from a clock once, and moved on by a
 * time that does not jump. Whoever sets the machine's clock lengthens and shortens nothing.
 * Immutable; any thread.
 */
public final class SteadyMillis implements LongSupplier {
    private static final long NANOS = 1_000_000;

    private final long began;
    private final long beganNanos;
    private final LongSupplier nanoTime;

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    public SteadyMillis(InstantSource clock, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.began = clock.millis();
        this.beganNanos = nanoTime.getAsLong();
    }

    /** The machine's, from now on. */
    public static SteadyMillis ofMachine() {
        return new SteadyMillis(InstantSource.system(), System::nanoTime);
    }

    @Override
    public long getAsLong() {
        return began + (nanoTime.getAsLong() - beganNanos) / NANOS;
    }
}
