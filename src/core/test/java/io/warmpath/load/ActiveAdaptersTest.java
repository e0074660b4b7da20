package io.warmpath.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.AdapterSlots;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ActiveAdaptersTest {
    private static final WorkerSlot SLOT = new WorkerSlot(3);
    private static final Worker WORKER =
            Worker.builder(7, "w", URI.create("http://w"))
                    .ranks(List.of(new Worker.Rank(0, SLOT)))
                    .build();
    private static final Candidate THERE = new Candidate(WORKER, 0, SLOT);

    private final ActiveAdapters adapters = new ActiveAdapters();

    private void told(int limit, Set<String> active, int used) {
        AdapterSlots slots = new AdapterSlots(limit, active, used);
        adapters.told(List.of(new EngineLoad(0, 0, 0, -1, -1, null, slots)), 7);
    }

    private double turns(String adapter) {
        return adapters.turns(THERE, adapter);
    }

    @Test
    void of_an_engine_that_tells_no_limit_it_is_known_where_an_adapter_runs_and_nobody_waits() {
        assertEquals(0, turns("law"));
        adapters.began(SLOT, "law");
        adapters.began(SLOT, "law");
        assertEquals(ActiveAdapters.ACTIVE, turns("law"));
        assertEquals(0, turns("sql"));
        adapters.ended(SLOT, "law");
        assertEquals(ActiveAdapters.ACTIVE, turns("law"));
        adapters.ended(SLOT, "law");
        assertEquals(0, turns("law"));
    }

    @Test
    void one_more_adapter_than_there_are_places_waits_for_one_of_them() {
        told(2, Set.of(), 0);
        adapters.began(SLOT, "law");
        assertEquals(0, turns("sql"), "a place is free");
        adapters.began(SLOT, "sql");
        assertEquals(ActiveAdapters.ACTIVE, turns("law"));
        assertEquals(0.5, turns("new"), "one of two places");
        adapters.began(SLOT, "new");
        assertEquals(1, turns("newer"), "two of them");
        assertEquals(0.25, turns("law"), "one of three waits, and which is not known");
    }

    @Test
    void the_limit_may_be_told_once_and_for_all() {
        Worker limited = WORKER.toBuilder().capacity(new Capacity(0, 0, 1)).build();
        Candidate there = new Candidate(limited, 0, SLOT);
        assertEquals(0, adapters.turns(there, "law"));
        adapters.began(SLOT, "law");
        assertEquals(ActiveAdapters.ACTIVE, adapters.turns(there, "law"));
        assertEquals(1, adapters.turns(there, "sql"));
    }

    @Test
    void adapters_that_others_have_sent_take_places_too() {
        told(1, Set.of("law"), 1);
        assertEquals(ActiveAdapters.ACTIVE, turns("law"));
        assertEquals(1, turns("sql"));
        told(1, Set.of(), 1); // an engine that counts and does not name
        assertEquals(1, turns("sql"));
        adapters.began(SLOT, "sql");
        assertEquals(ActiveAdapters.ACTIVE, turns("sql"));
        adapters.told(List.of(), 7);
        assertEquals(0, turns("law"));
    }
}
