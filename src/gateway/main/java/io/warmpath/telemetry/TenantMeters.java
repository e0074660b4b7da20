package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.usage.Spent;
import io.warmpath.usage.UsageBook;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Meters of what each tenant has used, of those that have figures of their own in the book of
 * usage.
 */
public final class TenantMeters implements UsageBook.Watch {
    private static final String NONE = "none";

    private final MeterRegistry registry;

    public TenantMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public Runnable came(UsageBook.Tenant tenant) {
        List<FunctionCounter> meters =
                Stream.of(
                                counter(tenant, "requests", "Requests", Spent::requests),
                                counter(
                                        tenant,
                                        "prompt.tokens",
                                        "Prompt tokens",
                                        Spent::promptTokens),
                                counter(
                                        tenant,
                                        "cached.tokens",
                                        "Cached prompt tokens, as engines reported, else as"
                                                + " predicted,",
                                        Spent::cachedTokens),
                                counter(
                                        tenant,
                                        "output.tokens",
                                        "Tokens of answers",
                                        Spent::outputTokens),
                                counter(
                                        tenant,
                                        "saved.prefill.seconds",
                                        "Time that computing the cached tokens would have taken,",
                                        s -> s.savedMillis() / 1e3))
                        .toList();
        return () -> meters.forEach(registry::remove);
    }

    private FunctionCounter counter(
            UsageBook.Tenant tenant, String name, String what, ToDoubleFunction<Spent> value) {
        return FunctionCounter.builder(
                        "warmpath.tenant." + name, tenant, t -> value.applyAsDouble(t.total()))
                .description(
                        what
                                + " by tenant; `none`: of nobody, `other`: those beyond the most; `all`: everybody, where names are not told")
                .tag("tenant", tenant.name().isEmpty() ? NONE : tenant.name())
                .register(registry);
    }
}
