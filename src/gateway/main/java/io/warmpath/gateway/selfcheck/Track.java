package io.warmpath.gateway.selfcheck;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one {@link Drift}, with its meters. Any thread. Holds two requests at most: one
 * under way, and one whose answer differed.
 */
final class Track {
    final Drift drift;
    final LengthRecord record;
    private final Counter equal;
    private final Counter differs;

    /** Whose answer is waited for; one that never comes is replaced after a while. */
    final AtomicReference<@Nullable Witness> waiting = new AtomicReference<>();

    /** The last whose length differed. */
    final AtomicReference<@Nullable Witness> proof = new AtomicReference<>();

    /** The warning was given without saying where prompts part. */
    volatile boolean owed;

    Track(MeterRegistry registry, Drift drift) {
        this.drift = drift;
        this.record = new LengthRecord();
        Tags tags =
                Tags.of(
                        "model", drift.model(),
                        "engine", drift.kind().name().toLowerCase(Locale.ROOT),
                        "form", drift.form().word());
        this.equal = counter(registry, tags, "equal");
        this.differs = counter(registry, tags, "differs");
        Gauge.builder("warmpath.prompt.trusted", record, r -> r.trusted() ? 1 : 0)
                .description(
                        "0 while the lengths that engines report of such prompts are not those"
                                + " predicted, and their cache hits are not counted on")
                .tags(tags)
                .register(registry);
    }

    private static Counter counter(MeterRegistry registry, Tags tags, String result) {
        return Counter.builder("warmpath.prompt.lengths")
                .description("Prompt lengths that engines reported, against those predicted")
                .tags(tags.and("result", result))
                .register(registry);
    }

    /** {@code differs}: the engine reported another length than was predicted. */
    LengthRecord.Turn compared(boolean differs) {
        (differs ? this.differs : equal).increment();
        return record.add(differs);
    }

    /** Something has differed lately, so a request is worth being kept. */
    boolean wantsWitness() {
        return owed || (record.trusted() && record.differing() > 0);
    }
}
