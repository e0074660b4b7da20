package io.warmpath.wiring.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The parts of the plan fit the limit together. */
class MemoryPlanTest {
    private static final long MIB = 1L << 20;

    @Test
    void half_a_gigabyte_is_shared_out() {
        MemoryPlan plan = new MemoryPlan(512 * MIB, 192 * MIB);
        assertEquals(36 * MIB, plan.index());
        assertEquals(12 * MIB, plan.sideIndex());
        assertEquals(12 * MIB, plan.prompts());
        assertEquals(24 * MIB, plan.bodies());
        assertEquals(12 * MIB, plan.largestBody(64 * MIB));
        assertEquals(24 * MIB, plan.kept(256 * MIB));
    }

    @Test
    void what_stays_is_less_than_what_is_called_full() {
        for (long limit : new long[] {512, 1024, 2048, 24 << 10}) {
            MemoryPlan plan = new MemoryPlan(limit * MIB, limit * MIB * 3 / 8);
            long stays =
                    plan.heap() + plan.index() + 2 * plan.sideIndex() + plan.prompts() + 128 * MIB;
            assertTrue(stays < plan.limit() * MemoryWatch.NEAR, limit + ": " + stays);
        }
    }

    @Test
    void with_a_heap_of_a_gigabyte_the_defaults_count() {
        MemoryPlan plan = new MemoryPlan(8192 * MIB, 1024 * MIB);
        assertEquals(64 * MIB, plan.largestBody(64 * MIB));
        assertEquals(64 * MIB, plan.kept(64 * MIB));
        assertEquals(32 * MIB, plan.prompts());
    }

    @Test
    void a_heap_that_takes_all_leaves_a_little_index() {
        assertEquals(12 * MIB, new MemoryPlan(512 * MIB, 512 * MIB).index());
    }
}
