package io.warmpath.gateway.selfcheck;

import org.jspecify.annotations.Nullable;

/** One request sent to one worker, until that says how long the prompt was. */
public final class LengthCheck {
    private final SelfCheck owner;
    final Track track;
    final int predicted;
    final @Nullable Witness witness;

    LengthCheck(SelfCheck owner, Track track, int predicted, @Nullable Witness witness) {
        this.owner = owner;
        this.track = track;
        this.predicted = predicted;
        this.witness = witness;
    }

    /**
     * The answer is complete. Any thread; never blocks.
     *
     * @param promptTokens as the engine reported
     */
    public void answered(long promptTokens) {
        owner.compared(this, promptTokens);
    }
}
