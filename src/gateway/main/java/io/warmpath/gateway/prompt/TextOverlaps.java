package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.template.TextChunks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Overlaps of prompts that are known by their text alone, beside those of tokens: a worker is taken
 * to hold the chunks of what this gateway sent to it, for a while. Everything else goes to the
 * overlaps underneath. Depths in chunks become depths in blocks of tokens by a guess from bytes:
 * right for weighing workers against each other and against their load, wrong as a prediction.
 */
public final class TextOverlaps implements Overlaps {
    private static final Logger LOG = Logger.getLogger(TextOverlaps.class);
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Overlaps tokens;
    private final SideIndex texts;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final LongAdder recorded = new LongAdder();
    private final LongAdder recordedChunks = new LongAdder();

    /**
     * @param tokens of all other prompts
     * @param texts beside the index that gives out the slots
     * @param nanoTime as {@link System#nanoTime}
     */
    public TextOverlaps(Overlaps tokens, SideIndex texts, LongSupplier nanoTime) {
        this.tokens = tokens;
        this.texts = texts;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
    }

    @Override
    public List<PrefixMatch> matches(
            String model, PrefixSpace space, List<Candidate> candidates, PromptContent prompt) {
        TextChunks text = prompt.text();
        if (text == null) {
            return tokens.matches(model, space, candidates, prompt);
        }
        PrefixMatch inChunks = texts.match(query(text, space));
        List<PrefixMatch> matches = new ArrayList<>(1);
        for (int i = 0; i < candidates.size(); i++) {
            int blockSize = candidates.get(i).worker().blockSize();
            if (blockSize > 0 && matches.stream().noneMatch(m -> m.blockSize() == blockSize)) {
                matches.add(inBlocks(inChunks, text, blockSize));
            }
        }
        return matches;
    }

    private static PrefixQuery query(TextChunks text, PrefixSpace space) {
        return new PrefixQuery(text.ids(), text.ids().length, TextChunks.IDS_PER_CHUNK, space);
    }

    private static PrefixMatch inBlocks(PrefixMatch inChunks, TextChunks text, int blockSize) {
        int[] slots = new int[inChunks.size()];
        int[] depths = new int[slots.length * Tier.COUNT];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = inChunks.slotAt(i);
            int blocks = text.tokens(inChunks.depthAt(i, Tier.GPU)) / blockSize;
            Arrays.fill(depths, i * Tier.COUNT, (i + 1) * Tier.COUNT, blocks);
        }
        return new PrefixMatch(blockSize, text.tokens() / blockSize, slots, depths);
    }

    @Override
    public void booked(String model, PrefixSpace space, Candidate to, PromptContent prompt) {
        TextChunks text = prompt.text();
        if (text == null) {
            tokens.booked(model, space, to, prompt);
            return;
        }
        try {
            recordedChunks.add(texts.decide(to.slot(), query(text, space), nowMillis()));
            recorded.increment();
        } catch (IllegalStateException left) {
            // The slot was closed since the decision: nothing is to be known of it any more.
            LOG.debugf("%s left before its request was booked", to.label());
        }
    }

    @Override
    public boolean takesTexts() {
        return true;
    }

    @Override
    public @Nullable PromptIndex prompts() {
        return tokens.prompts();
    }

    @Override
    public boolean reportedByEngines() {
        return tokens.reportedByEngines();
    }

    @Override
    public void tidy() {
        tokens.tidy();
        texts.expire(nowMillis());
    }

    /** Texts that were recorded as sent somewhere. */
    public long recorded() {
        return recorded.sum();
    }

    /** Chunks of these that were new to the worker. */
    public long recordedChunks() {
        return recordedChunks.sum();
    }

    /** Since this was made: the clock itself may be negative, the index's is unsigned. */
    private long nowMillis() {
        return (nanoTime.getAsLong() - startNanos) / NANOS_PER_MILLI;
    }
}
