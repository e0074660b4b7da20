package io.warmpath.gateway.selfcheck;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;

/** Meters of one model's prompts of one form on one kind of engine. */
final class SelfCheckMeters {
    private final Counter equal;
    private final Counter differs;

    SelfCheckMeters(MeterRegistry registry, Drift drift, LengthRecord record) {
        Tags tags =
                Tags.of(
                        "model", drift.model(),
                        "engine", drift.kind().name().toLowerCase(Locale.ROOT),
                        "form", drift.form().word());
        equal = counter(registry, tags, "equal");
        differs = counter(registry, tags, "differs");
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

    void compared(boolean same) {
        (same ? equal : differs).increment();
    }
}
