package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** One counter for each constant of an enum, which is the value of its tag. Any thread. */
public final class EnumCounters<E extends Enum<E>> {
    private final Map<E, Counter> counters;
    private final MeterRegistry registry;

    /**
     * @param tag whose value is the constant's name in lower case
     * @param more tags, each name followed by its value
     */
    public EnumCounters(
            MeterRegistry registry,
            Class<E> type,
            String tag,
            String name,
            String description,
            String... more) {
        this(registry, type, e -> e.name().toLowerCase(Locale.ROOT), tag, name, description, more);
    }

    EnumCounters(
            MeterRegistry registry,
            Class<E> type,
            Function<E, String> value,
            String tag,
            String name,
            String description,
            String... more) {
        this.registry = registry;
        this.counters = new EnumMap<>(type);
        for (E constant : type.getEnumConstants()) {
            counters.put(
                    constant,
                    Counter.builder(name)
                            .description(description)
                            .tags(more)
                            .tag(tag, value.apply(constant))
                            .register(registry));
        }
    }

    public void count(E constant) {
        Counter counter = counters.get(constant);
        if (counter != null) {
            counter.increment();
        }
    }

    /** Of those that have been counted. */
    Map<E, Long> counts() {
        Map<E, Long> counts = new LinkedHashMap<>();
        counters.forEach(
                (constant, counter) -> {
                    if (counter.count() > 0) {
                        counts.put(constant, (long) counter.count());
                    }
                });
        return counts;
    }

    /** Takes them out of the registry. */
    void remove() {
        counters.values().forEach(registry::remove);
    }
}
