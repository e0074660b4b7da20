package io.warmpath.events;

import org.jspecify.annotations.Nullable;

/**
 * One KV event as an engine meant it, whatever shape it had on the wire.
 *
 * <p>Immutable; arrays are not copied and must not change. Hashes are 64-bit names: signed and
 * unsigned integers keep their bits, byte strings are cut to their low 64 bits, big-endian.
 */
public sealed interface KvEvent {
    /**
     * Consecutive blocks came into a tier.
     *
     * @param hasParent false at the start of a prompt
     * @param parent hash of the block before the first; meaningless without a parent
     * @param tokens token ids, u32 in an int; of a bigram stream one more than it has pairs
     * @param bigram the engine's keys are pairs of neighbouring tokens (EAGLE)
     * @param blockSize tokens per block as the engine says, or pairs
     * @param medium name of the tier on the wire, null when absent
     * @param loraName adapter, null when absent
     * @param unnamedLora an adapter is known by number only
     * @param salt cache salt as far as this event tells; null when it says nothing
     * @param plainBlocks leading blocks that token ids alone identify; the block after them holds
     *     an image or another input
     * @param sessionId the engine's tag of the request, null when absent
     */
    record Stored(
            long[] hashes,
            boolean hasParent,
            long parent,
            int[] tokens,
            boolean bigram,
            int blockSize,
            @Nullable String medium,
            @Nullable String loraName,
            boolean unnamedLora,
            @Nullable String salt,
            int plainBlocks,
            @Nullable String sessionId,
            Scope scope)
            implements KvEvent {}

    /** These blocks left a tier. */
    record Removed(long[] hashes, @Nullable String medium, Scope scope) implements KvEvent {}

    /** Every block of every tier is gone. */
    record Cleared() implements KvEvent {}

    /** An event this version does not know. */
    record Unknown(String tag) implements KvEvent {}

    /**
     * Which part of a worker's cache an event is about.
     *
     * @param group number of the layer group in a hybrid model, {@link #NO_GROUP} when absent
     * @param specKind attention kind of the group, such as {@code full_attention}, null when absent
     * @param window tokens that a layer of the group attends to, 0 when absent
     * @param locality {@code LOCAL} or {@code REMOTE}, null when absent
     */
    record Scope(int group, @Nullable String specKind, int window, @Nullable String locality) {
        public static final int NO_GROUP = -1;

        public static final Scope NONE = new Scope(NO_GROUP, null, 0, null);
    }
}
