package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReferencePrefixIndexTest extends PrefixIndexContract {
    @Override
    protected PrefixIndex create() {
        return new ReferencePrefixIndex();
    }

    @Test
    void past_the_limit_the_oldest_orphans_are_given_up() {
        try (PrefixIndex index = new ReferencePrefixIndex(3)) {
            WorkerSlot a = index.open(0);
            index.apply(List.of(orphan(a, 1, 10, 11), orphan(a, 1, 20, 21)));
            assertEquals(2, index.stats().orphans(), "the first made room for the second");
            assertEquals(2, index.stats().orphansGivenUp());
            index.apply(List.of(orphan(a, 1, 30)));
            assertEquals(3, index.stats().orphans());
            index.apply(
                    List.of(
                            new PrefixEvent.Stored(
                                    a,
                                    Tier.GPU,
                                    false,
                                    0,
                                    new long[] {1},
                                    prompt(1),
                                    B,
                                    PrefixSpace.NONE)));
            assertEquals(1, depth(index, a, 1, 10, 11));
            assertEquals(3, depth(index, a, 1, 20, 21));
            assertEquals(2, depth(index, a, 1, 30));
        }
    }

    private static PrefixEvent orphan(WorkerSlot slot, long parent, int... blocks) {
        return new PrefixEvent.Stored(
                slot,
                Tier.GPU,
                true,
                parent,
                hashes(0, blocks),
                prompt(blocks),
                B,
                PrefixSpace.NONE);
    }

    private static int depth(PrefixIndex index, WorkerSlot slot, int... blocks) {
        int[] tokens = prompt(blocks);
        return index.match(new PrefixQuery(tokens, tokens.length, B, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }
}
