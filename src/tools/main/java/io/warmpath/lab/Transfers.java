package io.warmpath.lab;

import io.warmpath.lab.policy.Halves;
import io.warmpath.sim.virtual.EngineModel;
import io.warmpath.sim.virtual.VirtualTime;

/**
 * The network between engines: from each, and into each, one transfer after the other. One thread.
 */
final class Transfers {
    private final VirtualTime time;
    private final double setupNanos;
    private final double nanosPerToken;
    private final long[] outFreeAt;
    private final long[] inFreeAt;

    Transfers(VirtualTime time, Halves halves, EngineModel model, int engines) {
        this.time = time;
        this.setupNanos = halves.setupMillis() * 1e6;
        this.nanosPerToken = Halves.bytesPerToken(model) * 8 / halves.gigabitsPerSecond();
        this.outFreeAt = new long[engines];
        this.inFreeAt = new long[engines];
    }

    /** When so many tokens that leave now are there. */
    long at(int from, int to, int tokens) {
        long begins = Math.max(time.nanos(), Math.max(outFreeAt[from], inFreeAt[to]));
        long ends = begins + (long) (setupNanos + nanosPerToken * tokens);
        outFreeAt[from] = ends;
        inFreeAt[to] = ends;
        return ends;
    }
}
