package io.warmpath.gateway.prompt;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.tokens.PromptIndex;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Overlaps from the prefix index, in one of three forms.
 *
 * <ul>
 *   <li>events: the index holds what the workers tell;
 *   <li>decisions: no events, the index holds what was booked, for a while;
 *   <li>both: a side index of decisions beside that of events. Per worker the larger of the two
 *       answers counts: what was sent a moment ago is not forgotten because its event has not come,
 *       and what events tell is not forgotten because the decision has ended.
 * </ul>
 */
public final class IndexOverlaps implements Overlaps {
    private static final Logger LOG = Logger.getLogger(IndexOverlaps.class);
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final PrefixIndex index;
    private final boolean decisionsInIndex;
    private final @Nullable SideIndex predicted;
    private final SlotCredits credits;
    private final @Nullable PromptIndex prompts;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final LongAdder recorded = new LongAdder();
    private final LongAdder recordedBlocks = new LongAdder();

    private IndexOverlaps(
            PrefixIndex index,
            boolean decisionsInIndex,
            @Nullable SideIndex predicted,
            SlotCredits credits,
            @Nullable PromptIndex prompts,
            LongSupplier nanoTime) {
        this.index = index;
        this.prompts = prompts;
        this.decisionsInIndex = decisionsInIndex;
        this.predicted = predicted;
        this.credits = credits;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
    }

    /** Events alone, believed as they are. */
    public static IndexOverlaps ofEvents(PrefixIndex index) {
        return ofEvents(index, new SlotCredits());
    }

    /** Events alone. {@code credits}: how far the events of each slot are believed. */
    public static IndexOverlaps ofEvents(PrefixIndex index, SlotCredits credits) {
        return new IndexOverlaps(index, false, null, credits, null, () -> 0);
    }

    /**
     * Decisions alone.
     *
     * @param index its slots are approximate, see {@link io.warmpath.prefix.ApproximateSlots}
     * @param nanoTime as {@link System#nanoTime}
     */
    public static IndexOverlaps ofDecisions(PrefixIndex index, LongSupplier nanoTime) {
        return new IndexOverlaps(index, true, null, new SlotCredits(), null, nanoTime);
    }

    /** Events, believed as they are, and decisions. */
    public static IndexOverlaps ofBoth(
            PrefixIndex index, SideIndex predicted, LongSupplier nanoTime) {
        return ofBoth(index, predicted, new SlotCredits(), nanoTime);
    }

    /**
     * Events and decisions.
     *
     * @param credits how far the events of each slot are believed; what was decided here is
     * @param nanoTime as {@link System#nanoTime}
     */
    public static IndexOverlaps ofBoth(
            PrefixIndex index, SideIndex predicted, SlotCredits credits, LongSupplier nanoTime) {
        return new IndexOverlaps(index, false, predicted, credits, null, nanoTime);
    }

    /**
     * The same, asked with texts instead of ids.
     *
     * @param texts of the same index; a side index has to take its hashes
     */
    public IndexOverlaps askedWith(PromptIndex texts) {
        return new IndexOverlaps(index, decisionsInIndex, predicted, credits, texts, nanoTime);
    }

    @Override
    public @Nullable PromptIndex prompts() {
        return prompts;
    }

    @Override
    public List<PrefixMatch> matches(
            String model, PrefixSpace space, List<Candidate> candidates, PromptContent prompt) {
        List<PrefixMatch> matches =
                Overlaps.oncePerBlockSize(candidates, space, prompt, query -> match(query, prompt));
        prompt.answered();
        for (int i = 0; i < matches.size(); i++) {
            int blockSize = matches.get(i).blockSize();
            if (prompt.ids().length > 0 && CacheTraits.anyBigrams(candidates, blockSize)) {
                PrefixQuery pairs = Bigrams.lookUp(prompt.ids(), prompt.length(), blockSize, space);
                matches.set(i, withPairs(matches.get(i), pairs));
            }
        }
        return matches;
    }

    private PrefixMatch match(PrefixQuery query, PromptContent prompt) {
        PrefixMatch answer = prompt.answer(query.blockSize());
        return known(query, answer != null ? answer : index.match(query));
    }

    /**
     * Who is known, or taken, to hold how much of a prompt.
     *
     * @param query as {@link PromptContent} makes it
     */
    public PrefixMatch holders(PrefixQuery query) {
        PrefixMatch found = known(query, index.match(query));
        if (query.hashes() != null) {
            return found; // where keys are pairs of tokens, prompts come by ids
        }
        return withPairs(
                found,
                Bigrams.of(query.tokens(), query.length(), query.blockSize(), query.space()));
    }

    private PrefixMatch withPairs(PrefixMatch tokens, PrefixQuery pairs) {
        PrefixMatch found = known(pairs, index.match(pairs));
        return PrefixMatch.beside(tokens, found.inBlocksOf(tokens.blockSize()));
    }

    private PrefixMatch known(PrefixQuery query, PrefixMatch answer) {
        PrefixMatch known = credits.believed(answer);
        return predicted == null ? known : PrefixMatch.larger(known, predicted.match(query));
    }

    @Override
    public void booked(String model, PrefixSpace space, Candidate to, PromptContent prompt) {
        int blockSize = to.worker().blockSize();
        if (blockSize <= 0 || (!decisionsInIndex && predicted == null)) {
            return;
        }
        PrefixQuery query =
                to.worker().cache().bigrams() && prompt.ids().length > 0
                        ? Bigrams.of(prompt.ids(), prompt.length(), blockSize, space)
                        : prompt.query(blockSize, space);
        if (query == null) {
            return;
        }
        try {
            long fresh =
                    predicted != null
                            ? predicted.decide(to.slot(), query, nowMillis())
                            : index.decide(to.slot(), query, nowMillis());
            recorded.increment();
            recordedBlocks.add(fresh);
        } catch (IllegalStateException left) {
            // The slot was closed since the decision: nothing is to be known of it any more.
            LOG.debugf("%s left before its request was booked", to.label());
        }
    }

    @Override
    public boolean reportedByEngines() {
        return !decisionsInIndex;
    }

    /** Decisions that were recorded; 0 with events alone. */
    public long recorded() {
        return recorded.sum();
    }

    /** Blocks of these decisions that were new to the worker. */
    public long recordedBlocks() {
        return recordedBlocks.sum();
    }

    @Override
    public void tidy() {
        if (predicted != null) {
            predicted.expire(nowMillis());
        } else if (decisionsInIndex) {
            index.expire(nowMillis());
        }
    }

    /** Since this was made: the clock itself may be negative, the index's is unsigned. */
    private long nowMillis() {
        return (nanoTime.getAsLong() - startNanos) / NANOS_PER_MILLI;
    }
}
