package io.warmpath.lab.policy;

import io.warmpath.sim.virtual.EngineModel;

/**
 * A fleet of which the first engines compute prompts and the others decode.
 *
 * @param prefills how many compute prompts; at least one, and one is left
 * @param gigabitsPerSecond of each engine's network, in each direction
 * @param apart an engine does one part only, as SGLang's; else any can do whole requests, too
 */
public record Halves(int prefills, double gigabitsPerSecond, boolean apart) {
    private static final double SETUP_MILLIS = 2;

    /** What a transfer takes beside its bytes. */
    public double setupMillis() {
        return SETUP_MILLIS;
    }

    /** KV cache of one token: 128 KiB of a model of 8 billion parameters, 320 KiB of 70. */
    public static long bytesPerToken(EngineModel model) {
        return (model.name().equals(EngineModel.LARGE.name()) ? 320L : 128L) << 10;
    }
}
