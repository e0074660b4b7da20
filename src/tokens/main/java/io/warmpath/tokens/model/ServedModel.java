package io.warmpath.tokens.model;

import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.LearntMedia;
import io.warmpath.tokens.text.AddedTokens;
import io.warmpath.tokens.text.SegmentCache;
import io.warmpath.tokens.text.SegmentedTokenizer;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.TokensCounters;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One loaded tokenizer with its template and its remembered pieces, as prompts use it. Any thread.
 * Whoever uses it says so by {@link #enter} and {@link #leave}; the tokenizer is closed when it has
 * been retired and its last user has left.
 */
public final class ServedModel {
    public final LoadedModel loaded;
    public final TextTokenizer tokenizer;
    public final @Nullable SegmentedTokenizer segmented;
    final @Nullable SegmentCache cache;
    public final @Nullable ChatTemplate template;
    public final LearntMedia media;
    public volatile boolean failing;

    /** Users, and one for its owner; 0: closed, for good. Shared by copies. */
    private final AtomicInteger holds;

    ServedModel(LoadedModel loaded, long cacheBytes, TokensCounters counters) {
        this(loaded, cacheBytes, counters, new LearntMedia(), new AtomicInteger(1));
    }

    private ServedModel(
            LoadedModel loaded,
            long cacheBytes,
            TokensCounters counters,
            LearntMedia media,
            AtomicInteger holds) {
        this.loaded = loaded;
        this.media = media;
        this.holds = holds;
        template = loaded.template().orElse(null);
        AddedTokens splitOn = loaded.splitOn().orElse(null);
        if (splitOn == null || cacheBytes == 0) {
            cache = null;
            segmented = null;
            tokenizer = loaded.tokenizer();
        } else {
            cache = new SegmentCache(cacheBytes);
            segmented = new SegmentedTokenizer(loaded.tokenizer(), splitOn, cache, counters);
            tokenizer = segmented;
        }
    }

    /** The same tokenizer with remembered pieces of its own; closed with this one. */
    ServedModel copy(long cacheBytes, TokensCounters counters) {
        return new ServedModel(loaded, cacheBytes, counters, media, holds);
    }

    /**
     * @return false when it is closed; else {@link #leave} has to follow
     */
    boolean enter() {
        int now = holds.get();
        while (now > 0) {
            int seen = holds.compareAndExchange(now, now + 1);
            if (seen == now) {
                return true;
            }
            now = seen;
        }
        return false;
    }

    public void leave() {
        if (holds.decrementAndGet() == 0) {
            tokenizer.close();
        }
    }

    /** Its owner's last word. */
    void retire() {
        leave();
    }
}
