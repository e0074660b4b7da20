package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.List;

/**
 * What is running where, as far as this gateway has sent it. Any thread, no waiting. Booked when a
 * worker is picked; prefill completes at the first token; freed at the end, on error and on cancel.
 * Every booking must be closed exactly once; closing twice is harmless.
 */
public interface LoadBook {
    /**
     * @param prefillTokens prompt tokens the worker has to compute (prompt minus predicted cached)
     * @param prompt its blocks, in the worker's block size
     * @param expectedOutput tokens the answer will probably have, 0: not known
     */
    Booking book(WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput);

    /** Books {@code blocks} blocks that are shared with nobody. */
    default Booking book(WorkerSlot slot, int prefillTokens, int blocks) {
        return book(slot, prefillTokens, PromptBlocks.unnamed(1, blocks), 0);
    }

    /** Names the prompt's blocks, shared or not as this book takes them; by default not at all. */
    default PromptBlocks name(String model, String salt, int[] tokens, int blockSize) {
        return PromptBlocks.unnamed(blockSize, tokens.length);
    }

    /**
     * The same from what the index names them by: equal hashes, equal names. The names differ from
     * those that the ids give. {@code hashes}: one for each complete block, of its tokens alone.
     */
    default PromptBlocks name(String model, String salt, long[] hashes, int tokens, int blockSize) {
        return PromptBlocks.unnamed(blockSize, tokens);
    }

    /** Load of one slot now. */
    WorkerLoad load(WorkerSlot slot);

    /**
     * What the request would add to every slot.
     *
     * @param prompts the same prompt once per block size
     */
    default PotentialBlocks potential(List<PromptBlocks> prompts) {
        return PotentialBlocks.ALL_NEW;
    }

    /** A booking of which nothing is heard for this long is given up. */
    default Duration expiry() {
        return LoadOptions.DEFAULT.expiry();
    }

    /** Bookings that are open, over all slots. */
    long open();

    /** One request's share of a worker. Any thread. */
    interface Booking extends AutoCloseable {
        /** The first token arrived: its prefill tokens are done. Idempotent. */
        void firstToken();

        /**
         * The answer grows, so the booking is not forgotten. One thread at a time; one field write
         * unless output blocks are tracked and a new one begins.
         *
         * @param outputTokens of the answer so far
         */
        default void progress(int outputTokens) {}

        /**
         * As {@link #progress(int)}, by someone who knows better than the expected length what the
         * blocks count from now on that only this request uses. {@code weight}: from 0 to 1.
         */
        default void progress(int outputTokens, double weight) {
            progress(outputTokens);
        }

        /** The request left the worker. Idempotent; implies {@link #firstToken}. */
        @Override
        void close();
    }
}
