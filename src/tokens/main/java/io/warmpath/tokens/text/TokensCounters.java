package io.warmpath.tokens.text;

import io.warmpath.tokens.ModelTokens;
import java.util.concurrent.atomic.LongAdder;

/** What {@link ModelTokens} did, counted since start. Any thread. */
public final class TokensCounters {
    public final LongAdder prompts = new LongAdder();
    public final LongAdder promptTokens = new LongAdder();
    public final LongAdder encodedTokens = new LongAdder();
    public final LongAdder encodeNanos = new LongAdder();
    final LongAdder cacheHits = new LongAdder();
    final LongAdder cacheMisses = new LongAdder();
    public final LongAdder unknownModel = new LongAdder();
    public final LongAdder notLoaded = new LongAdder();
    public final LongAdder noTemplate = new LongAdder();
    public final LongAdder opaque = new LongAdder();
    public final LongAdder refused = new LongAdder();
    public final LongAdder tooLong = new LongAdder();
    public final LongAdder failed = new LongAdder();

    /** Prompts that became tokens; prompts given as ids are not counted. */
    public long prompts() {
        return prompts.sum();
    }

    /** Their tokens, cached or not. */
    public long promptTokens() {
        return promptTokens.sum();
    }

    /** Tokens that the tokenizer had to make, because no remembered piece held them. */
    public long encodedTokens() {
        return encodedTokens.sum();
    }

    /** Time spent on prompts that became tokens: template, cache and tokenizer. */
    public long encodeNanos() {
        return encodeNanos.sum();
    }

    public long cacheHits() {
        return cacheHits.sum();
    }

    public long cacheMisses() {
        return cacheMisses.sum();
    }

    /** Prompts without tokens because no tokenizer is set up for their model. */
    public long unknownModel() {
        return unknownModel.sum();
    }

    /** Prompts without tokens because the files of their model could not be loaded. */
    public long notLoaded() {
        return notLoaded.sum();
    }

    /** Chats without tokens because the model's template is not of a known form. */
    public long noTemplate() {
        return noTemplate.sum();
    }

    /** Prompts without tokens because of what is in them: batches, members that hide them. */
    public long opaque() {
        return opaque.sum();
    }

    /** Chats without tokens because the engine's text is not certain, or it refuses them. */
    public long refused() {
        return refused.sum();
    }

    public long tooLong() {
        return tooLong.sum();
    }

    /** Prompts whose text is not Unicode, or at which the tokenizer failed. */
    public long failed() {
        return failed.sum();
    }
}
