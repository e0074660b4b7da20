package io.warmpath.gateway.migration;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What all requests have in common that may continue on another worker: the options, the memory
 * that is kept for it, and the meters. Any thread.
 */
public final class Migration {
    /** What broke a stream that was gone on with. */
    public enum Cause {
        /** The connection ended in mid-answer. */
        BROKE,
        /** Nothing came for too long. */
        STALLED,
        /** What came was no HTTP. */
        BAD_ANSWER
    }

    private final MigrationOptions options;
    private final AtomicLong kept = new AtomicLong();
    private final Map<Cause, Counter> moved = new EnumMap<>(Cause.class);
    private final Map<Cause, Counter> completed = new EnumMap<>(Cause.class);
    private final Map<Cause, Counter> failed = new EnumMap<>(Cause.class);
    private final Map<WhyNot, Counter> refused = new EnumMap<>(WhyNot.class);

    public Migration(MigrationOptions options, MeterRegistry registry) {
        this.options = options;
        for (Cause c : Cause.values()) {
            moved.put(c, counter(registry, "moved", c));
            completed.put(c, counter(registry, "completed", c));
            failed.put(c, counter(registry, "failed", c));
        }
        for (WhyNot w : WhyNot.values()) {
            refused.put(w, counter(registry, "refused", w));
        }
        Gauge.builder("warmpath.migration.kept.bytes", kept, AtomicLong::doubleValue)
                .description(
                        "Requests and answers kept so that they could be gone on with elsewhere")
                .register(registry);
    }

    private static Counter counter(MeterRegistry registry, String result, Enum<?> reason) {
        return Counter.builder("warmpath.migrations")
                .description(
                        "Streams that broke after output began: moved to another worker (then"
                                + " completed or failed there), or refused")
                .tag("result", result)
                .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                .register(registry);
    }

    public MigrationOptions options() {
        return options;
    }

    public boolean isOn() {
        return options.limit() > 0;
    }

    /**
     * Room for one request.
     *
     * @return null when it is too large, or all are together; to be freed otherwise
     */
    public @Nullable KeptStream keep(int bytes) {
        return isOn() && bytes <= options.maxBytes() && take(bytes)
                ? new KeptStream(this, bytes)
                : null;
    }

    boolean take(int bytes) {
        if (kept.addAndGet(bytes) > options.maxTotalBytes()) {
            kept.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    void give(int bytes) {
        kept.addAndGet(-bytes);
    }

    /** Bytes kept for all requests. */
    public long keptBytes() {
        return kept.get();
    }

    /** A stream goes on elsewhere. */
    public void moved(Cause cause) {
        count(moved, cause);
    }

    /** A stream that was moved has come to its end. */
    public void completed(Cause cause) {
        count(completed, cause);
    }

    /** A stream that was moved broke there, too, for good. */
    public void failed(Cause cause) {
        count(failed, cause);
    }

    /** A stream was given up that had not been moved before. */
    public void refused(WhyNot why) {
        count(refused, why);
    }

    private static <E extends Enum<E>> void count(Map<E, Counter> counters, E value) {
        Counter counter = counters.get(value);
        if (counter != null) {
            counter.increment();
        }
    }
}
