package io.warmpath.gateway.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.gateway.observe.SplitPairs.SplitPair;
import java.util.List;
import org.junit.jupiter.api.Test;

class SplitPairsTest {
    private final SplitPairs pairs = new SplitPairs();

    @Test
    void both_workers_have_what_they_did_together_those_with_most_tokens_first() {
        pairs.handedOver("p0", "d0", 100);
        pairs.handedOver("p0", "d1", 500);
        pairs.handedOver("p0", "d0", 200);
        pairs.handedOver("p1", "d0", 0);
        assertEquals(
                List.of(new SplitPair("d1", 1, 500), new SplitPair("d0", 2, 300)), pairs.of("p0"));
        assertEquals(
                List.of(new SplitPair("p0", 2, 300), new SplitPair("p1", 1, 0)), pairs.of("d0"));
        assertEquals(List.of(), pairs.of("whole"));
        pairs.forget("p0");
        assertEquals(List.of(), pairs.of("p0"));
        assertEquals(List.of(new SplitPair("p1", 1, 0)), pairs.of("d0"));
    }

    @Test
    void a_worker_has_those_that_it_was_paired_with_last_and_tells_ten_of_them() {
        int more = 5;
        for (int d = 0; d < SplitPairs.MOST_PEERS + more; d++) {
            pairs.handedOver("p", "d" + d, 1_000 - d);
            pairs.handedOver("p", "d0", 1); // always in use
        }
        List<SplitPair> told = pairs.of("p");
        assertEquals(SplitPairs.MOST_TOLD, told.size());
        assertEquals(new SplitPair("d0", 1 + SplitPairs.MOST_PEERS + more, 1133), told.getFirst());
        assertEquals(new SplitPair("d6", 1, 994), told.get(1), "d1 to d5 have made room");
    }
}
