package io.warmpath.lab.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockIdsTest {
    @Test
    void numbers_are_those_of_a_map_from_parent_and_name() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        BlockIds ids = new BlockIds();
        Map<String, Integer> known = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            int parent = random.nextInt(-1, 3000);
            int name = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(40);
            int expected = known.getOrDefault(parent + " " + name, known.size());
            known.put(parent + " " + name, expected);
            assertEquals(expected, ids.of(parent, name), "seed " + seed);
        }
        assertEquals(known.size(), ids.size(), "seed " + seed);
    }
}
