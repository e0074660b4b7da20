package io.warmpath.sim.half;

import org.jspecify.annotations.Nullable;

/**
 * Where the two halves of a request meet, as it tells each of them.
 *
 * @param host of the engine that computes the prompt
 * @param port of its registry; null: the answering engine's own
 * @param room of this request alone, 0 to 2^63 - 1
 * @param prefillRank rank that computes the prompt, where that is told; null: by the room
 */
public record Meeting(
        String host, @Nullable Integer port, long room, @Nullable Integer prefillRank) {}
