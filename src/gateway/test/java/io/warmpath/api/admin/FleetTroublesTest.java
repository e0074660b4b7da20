package io.warmpath.api.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.usage.FleetHistory;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whose missing KV events make a gateway do less than it could. */
class FleetTroublesTest {
    private static final String WANTED =
            "w1 send no KV events: what they have cached is not known.";

    @Test
    void an_engine_that_does_whole_requests_is_to_tell_its_cache() {
        assertEquals(List.of(WANTED), troubles(Disaggregation.NONE));
    }

    @Test
    void so_is_one_that_computes_prompts_for_others() {
        assertEquals(
                List.of(WANTED), troubles(new Disaggregation(Role.PREFILL, false, 8998, "nixl")));
    }

    @Test
    void one_that_only_decodes_is_not() {
        assertEquals(List.of(), troubles(new Disaggregation(Role.DECODE, false, 0, "nixl")));
    }

    @Test
    void one_that_decodes_and_can_do_whole_requests_is() {
        assertEquals(List.of(WANTED), troubles(new Disaggregation(Role.DECODE, true, 0, "nixl")));
    }

    /** Its socket is told, and nothing is ever said there. */
    @Test
    void one_that_only_decodes_may_be_silent() {
        SourceReport silent =
                new SourceReport(
                        "w1", 1, 0, "tcp://a:1", null, 0, false, SourceStatus.none("silent"));
        assertEquals(
                List.of(), troubles(new Disaggregation(Role.DECODE, false, 0, "nixl"), silent));
        assertEquals(1, troubles(Disaggregation.NONE, silent).size());
    }

    /** Of a fleet of this engine, which sends no events. */
    private static List<String> troubles(Disaggregation part) {
        return troubles(
                part,
                new SourceReport(
                        "w1", 1, 0, null, null, 1, false, SourceStatus.none("no sockets")));
    }

    private static List<String> troubles(Disaggregation part, SourceReport source) {
        Worker worker =
                Worker.builder(1, "w1", URI.create("http://10.0.0.1:30000"))
                        .state(WorkerState.READY)
                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                        .disaggregation(part)
                        .build();
        return FleetTroubles.of(
                List.of(
                        new WorkerStatus(
                                worker,
                                WorkerSpec.of("http://10.0.0.1:30000"),
                                List.of(),
                                "",
                                List.of())),
                List.of(source),
                new WorkerFacts(
                        id -> Map.of(),
                        true,
                        kind -> Set.of(),
                        id -> PinSupport.NONE,
                        id -> TransferRates.Known.NOTHING,
                        w -> Map.of("m", "its own files"),
                        name -> List.of()),
                new FleetFacts(
                        new LoadTracker(),
                        new FleetHistory(() -> 0),
                        () -> SlotBlocks.NONE,
                        () -> 0,
                        () -> 0,
                        () -> false,
                        Map::of,
                        () -> "",
                        RouterOptions.of(RouterMode.KV),
                        Instant.EPOCH));
    }
}
