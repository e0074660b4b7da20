package io.warmpath.lab.policy;

import io.warmpath.sim.virtual.Job;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One request as policies see it. */
public final class Call extends Job {
    private final int number;
    private final int[] blocks;
    private final int prompt;
    private final int answer;
    private final int blockTokens;
    private final boolean streamed;
    private final @Nullable Call whole;
    private int cachedElsewhere = -1;

    /**
     * @param number in its workload, from 0
     * @param streamed its router sees its first token
     */
    public Call(
            int number, int[] blocks, int prompt, int answer, int blockTokens, boolean streamed) {
        this(number, blocks, prompt, answer, blockTokens, streamed, null);
    }

    private Call(
            int number,
            int[] blocks,
            int prompt,
            int answer,
            int blockTokens,
            boolean streamed,
            @Nullable Call whole) {
        super(blocks, prompt, answer);
        this.streamed = streamed;
        this.whole = whole;
        this.number = number;
        this.blocks = blocks;
        this.prompt = prompt;
        this.answer = answer;
        this.blockTokens = blockTokens;
    }

    /** Its prompt alone, for an engine that computes it for another one. */
    public Call prefill() {
        return new Call(
                number, Arrays.copyOf(blocks, promptBlocks()), prompt, 1, blockTokens, true, this);
    }

    /** The request of which this is the prompt; null: it is one itself. */
    public @Nullable Call whole() {
        return whole;
    }

    /** Its prompt was computed by another engine, which had so much of it. */
    public void cachedElsewhere(int tokens) {
        cachedElsewhere = tokens;
    }

    /** As the engine reports that has computed the prompt; known from the first token on. */
    public int reported() {
        return cachedElsewhere < 0 ? cachedTokens() : cachedElsewhere;
    }

    /** False: its answer comes in one piece. */
    public boolean streamed() {
        return streamed;
    }

    public int number() {
        return number;
    }

    public int promptTokens() {
        return prompt;
    }

    /** Known to references only; routers do not know it beforehand. */
    public int answerTokens() {
        return answer;
    }

    /** Ids of the complete blocks of prompt and answer; routers know {@link #promptBlocks}. */
    public int[] blocks() {
        return blocks;
    }

    /** How many of the blocks are the prompt's. */
    public int promptBlocks() {
        return Math.min(blocks.length, prompt / blockTokens);
    }
}
