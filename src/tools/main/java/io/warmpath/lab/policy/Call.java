package io.warmpath.lab.policy;

import io.warmpath.sim.virtual.Job;

/** One request as policies see it. */
public final class Call extends Job {
    private final int number;
    private final int[] blocks;
    private final int prompt;
    private final int answer;
    private final int blockTokens;

    /**
     * @param number in its workload, from 0
     */
    public Call(int number, int[] blocks, int prompt, int answer, int blockTokens) {
        super(blocks, prompt, answer);
        this.number = number;
        this.blocks = blocks;
        this.prompt = prompt;
        this.answer = answer;
        this.blockTokens = blockTokens;
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
