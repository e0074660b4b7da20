package io.warmpath.prefix;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What part of the blocks that a slot is known to hold counts, by slot number. Any thread; reading
 * is one volatile load while every slot counts in full. Setting copies, which is rare: a change of
 * a source's state.
 */
public final class SlotCredits {
    private float @Nullable [] lowered;
    private volatile float @Nullable [] view;

    /** {@code credit}: 0 to 1. */
    public synchronized void set(List<WorkerSlot> slots, double credit) {
        if (!(credit >= 0 && credit <= 1)) {
            throw new IllegalArgumentException("a credit of " + credit + " is not from 0 to 1");
        }
        int size = slots.stream().mapToInt(s -> s.index() + 1).max().orElse(0);
        float[] before = lowered == null ? new float[0] : lowered;
        float[] after = Arrays.copyOf(before, Math.max(before.length, size));
        Arrays.fill(after, before.length, after.length, 1);
        slots.forEach(s -> after[s.index()] = (float) credit);
        lowered = after;
        boolean all = true;
        for (float c : after) {
            all &= c == 1;
        }
        view = all ? null : after;
    }

    /** The answer as far as it is believed: each depth times its slot's credit, rounded down. */
    public PrefixMatch believed(PrefixMatch match) {
        float[] credits = view;
        return credits == null ? match : match.scaled(credits);
    }
}
