package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.PromptIndex.Remembered;
import io.warmpath.tokens.text.TokensCounters;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Meters of prompt to token ids: how many, how fast, and why not. */
public final class TokenMeters {
    private final MeterRegistry registry;
    private final ModelTokens tokens;
    private final TokensCounters counters;
    private final @Nullable PromptIndex prompts;

    private TokenMeters(MeterRegistry registry, ModelTokens tokens, @Nullable PromptIndex prompts) {
        this.registry = registry;
        this.tokens = tokens;
        this.counters = tokens.counters();
        this.prompts = prompts;
    }

    /** {@code prompts}: remembers texts beside {@code tokens}; null: there is none. */
    public static void bind(
            MeterRegistry registry, ModelTokens tokens, @Nullable PromptIndex prompts) {
        TokenMeters m = new TokenMeters(registry, tokens, prompts);
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
        m.lookup("hit", c -> c.cacheHits() + m.remembered(Remembered::found));
        m.lookup("miss", c -> c.cacheMisses() + m.remembered(Remembered::missed));
        Gauge.builder("warmpath.tokens.cache.bytes", m, TokenMeters::bytes)
                .description("Memory of remembered pieces of text")
                .register(registry);
        Gauge.builder("warmpath.tokens.cache.entries", m, TokenMeters::entries)
                .description("Remembered pieces of text")
                .register(registry);
        FunctionCounter.builder("warmpath.tokens.cache.evictions", m, TokenMeters::evictions)
                .description("Remembered pieces of text that made room for others")
                .register(registry);
    }

    private double bytes() {
        return tokens.cacheBytes() + (double) remembered(Remembered::bytes);
    }

    private double entries() {
        return tokens.cacheEntries() + (double) remembered(Remembered::pieces);
    }

    private double evictions() {
        return tokens.cacheEvictions() + (double) remembered(Remembered::evicted);
    }

    private long remembered(ToLongFunction<Remembered> value) {
        if (prompts == null) {
            return 0;
        }
        try {
            return value.applyAsLong(prompts.remembered());
        } catch (IllegalStateException closed) {
            return 0; // a scrape during shutdown
        }
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
