package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensCounters;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Meters of prompt to token ids: how many, how fast, and why not. */
public final class TokenMeters {
    private final MeterRegistry registry;
    private final TokensCounters counters;

    private TokenMeters(MeterRegistry registry, TokensCounters counters) {
        this.registry = registry;
        this.counters = counters;
    }

    public static void bind(MeterRegistry registry, ModelTokens tokens) {
        TokenMeters m = new TokenMeters(registry, tokens.counters());
        m.counter("prompts", "Prompts that became token ids", null, TokensCounters::prompts);
        m.counter(
                "prompt.tokens", "Token ids of these prompts", null, TokensCounters::promptTokens);
        m.counter(
                "encoded.tokens",
                "Token ids that no remembered piece of text held",
                null,
                TokensCounters::encodedTokens);
        m.counter(
                "encode.seconds", "Time spent on these prompts", null, c -> c.encodeNanos() / 1e9);
        m.unknown("unknown_model", TokensCounters::unknownModel);
        m.unknown("not_loaded", TokensCounters::notLoaded);
        m.unknown("no_template", TokensCounters::noTemplate);
        m.unknown("opaque", TokensCounters::opaque);
        m.unknown("refused", TokensCounters::refused);
        m.unknown("too_long", TokensCounters::tooLong);
        m.unknown("failed", TokensCounters::failed);
        m.lookup("hit", TokensCounters::cacheHits);
        m.lookup("miss", TokensCounters::cacheMisses);
        Gauge.builder("warmpath.tokens.cache.bytes", tokens, ModelTokens::cacheBytes)
                .description("Memory of remembered pieces of text")
                .register(registry);
        Gauge.builder("warmpath.tokens.cache.entries", tokens, ModelTokens::cacheEntries)
                .description("Remembered pieces of text")
                .register(registry);
        FunctionCounter.builder(
                        "warmpath.tokens.cache.evictions", tokens, ModelTokens::cacheEvictions)
                .description("Remembered pieces of text that made room for others")
                .register(registry);
    }

    private void unknown(String why, ToDoubleFunction<TokensCounters> value) {
        counter("unknown", "Prompts without token ids", new String[] {"cause", why}, value);
    }

    private void lookup(String result, ToDoubleFunction<TokensCounters> value) {
        counter(
                "cache.lookups",
                "Pieces of text looked up among the remembered ones",
                new String[] {"result", result},
                value);
    }

    private void counter(
            String what,
            String doc,
            String @Nullable [] tags,
            ToDoubleFunction<TokensCounters> value) {
        FunctionCounter.Builder<TokensCounters> b =
                FunctionCounter.builder("warmpath.tokens." + what, counters, value)
                        .description(doc);
        if (tags != null) {
            b.tags(tags);
        }
        b.register(registry);
    }
}
