package io.warmpath.tokens.text;

import io.warmpath.tokens.model.LoadedModel;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tokenises a text piece by piece and remembers the pieces, so that a conversation that grows costs
 * only its new messages. Exact, not approximate: a tokenizer cuts the text at its added tokens
 * before it does anything else and works on each piece alone. For which tokenizers that holds is
 * decided where the file is read ({@link LoadedModel#splitOn}); the others are never wrapped in
 * this class. Any thread. Two requests that miss on the same piece at once both tokenise it.
 */
public final class SegmentedTokenizer implements TextTokenizer {
    private final TextTokenizer whole;
    private final AddedTokens addedTokens;
    private final SegmentCache cache;
    private final TokensCounters counters;

    /** What the model puts around a raw prompt; null when it could not be told apart from it. */
    private final @Nullable Around around;

    private record Around(int[] before, int[] after) {}

    public SegmentedTokenizer(
            TextTokenizer whole,
            AddedTokens addedTokens,
            SegmentCache cache,
            TokensCounters counters) {
        this.whole = whole;
        this.addedTokens = addedTokens;
        this.cache = cache;
        this.counters = counters;
        this.around = aroundRawPrompts(whole);
    }

    @Override
    public int[] encode(String text, boolean addSpecialTokens) {
        if (addSpecialTokens && around == null) {
            return whole.encode(text, true);
        }
        return new Run(text, Integer.MAX_VALUE).encode(addSpecialTokens ? around : null);
    }

    /**
     * The ids, if at most {@code mostNewChars} characters are in no remembered piece; else null.
     * What was tokenised until then is remembered.
     */
    public int @Nullable [] encodeIfKnown(String text, boolean addSpecialTokens, int mostNewChars) {
        if (addSpecialTokens && around == null) {
            return text.length() > mostNewChars ? null : whole.encode(text, true);
        }
        Run run = new Run(text, mostNewChars);
        int[] ids = run.encode(addSpecialTokens ? around : null);
        return run.newChars < 0 ? null : ids;
    }

    /** One encode. */
    private final class Run implements AddedTokens.Visitor {
        private final String text;
        private final IntBuilder ids;

        /** Characters that may still be tokenised; below zero: there were more. */
        private int newChars;

        Run(String text, int mostNewChars) {
            this.text = text;
            newChars = mostNewChars;
            ids = new IntBuilder(text.length() / 3 + 16);
        }

        int[] encode(@Nullable Around around) {
            if (around != null) {
                ids.addAll(around.before);
            }
            addedTokens.split(text, this);
            if (around != null) {
                ids.addAll(around.after);
            }
            return ids.toArray();
        }

        @Override
        public void text(int from, int to) {
            if (newChars < 0) {
                return;
            }
            String piece = text.substring(from, to);
            int[] known = cache.get(piece);
            if (known != null) {
                counters.cacheHits.increment();
                ids.addAll(known);
                return;
            }
            newChars -= to - from;
            if (newChars >= 0) {
                ids.addAll(segment(piece));
            }
        }

        @Override
        public void token(int id) {
            ids.add(id);
        }
    }

    private int[] segment(String text) {
        counters.cacheMisses.increment();
        int[] ids = whole.encode(text, false);
        counters.encodedTokens.add(ids.length);
        cache.put(text, ids);
        return ids;
    }

    @Override
    public Optional<String> decode(int[] ids) {
        return whole.decode(ids);
    }

    @Override
    public int nanosPerChar() {
        return whole.nanosPerChar();
    }

    @Override
    public void close() {
        whole.close();
    }

    /** Found by trying: the ids of a text with and without. Null when the place is not certain. */
    private static @Nullable Around aroundRawPrompts(TextTokenizer tokenizer) {
        int[] bare = tokenizer.encode("a", false);
        int[] full = tokenizer.encode("a", true);
        Around found = null;
        for (int i = 0; i + bare.length <= full.length; i++) {
            int end = i + bare.length;
            if (Arrays.equals(full, i, end, bare, 0, bare.length)) {
                if (found != null) {
                    return null;
                }
                found =
                        new Around(
                                Arrays.copyOf(full, i), Arrays.copyOfRange(full, end, full.length));
            }
        }
        return found;
    }
}
