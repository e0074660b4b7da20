package io.warmpath.routing;

/**
 * Blocks of a prompt's beginning by the tier that an engine has each of them from: the first that
 * holds it. Their sum is what is cached. {@code external}: of an external tier or a shared pool.
 */
public record TierBlocks(int gpu, int host, int disk, int external) {
    /** From cumulative depths, and the blocks of a pool that go on where they end. */
    static TierBlocks of(int gpu, int host, int disk, int external, int pool) {
        return new TierBlocks(gpu, host - gpu, disk - host, external - disk + pool);
    }
}
