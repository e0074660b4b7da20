package io.warmpath.gateway.request;

import static io.warmpath.gateway.request.SessionHeadersTest.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.session.AgentContext;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ModelRewritesTest {
    private static final long SEED = 20261126;

    /** Nine of ten requests for m are for old, and adapter has a base. */
    private static final ModelNames NAMES =
            new ModelNames(Map.of("new", new ModelName("new", "new", "base", "space")))
                    .behind(
                            (model, share) ->
                                    model.equals("m") ? share < 0.9 ? "old" : "new" : null);

    private static ModelName of(String requestId, String... headers) {
        return request(requestId, AgentContext.NONE, headers).named(NAMES).name();
    }

    @Test
    void requests_are_shared_out_by_their_ids() {
        Random random = new Random(SEED);
        int old = 0;
        for (int i = 0; i < 10_000; i++) {
            ModelName name = of(Long.toHexString(random.nextLong()));
            assertEquals("m", name.asked());
            old += name.served().equals("old") ? 1 : 0;
        }
        assertTrue(old > 8_900 && old < 9_100, old + " of 10000, seed " + SEED);
        int counted = 0;
        for (int i = 0; i < 10_000; i++) {
            counted += of("request-" + i).served().equals("old") ? 1 : 0;
        }
        assertTrue(counted > 8_900 && counted < 9_100, counted + " of 10000 ids in a row");
    }

    @Test
    void the_turns_of_a_session_stay_with_its_model() {
        Map<String, Set<String>> models = new HashMap<>();
        for (int i = 0; i < 1_000; i++) {
            String session = "s" + i % 50;
            models.computeIfAbsent(session, s -> new HashSet<>())
                    .add(of("r" + i, "x-session-id", session).served());
        }
        models.forEach((session, seen) -> assertEquals(1, seen.size(), session + ": " + seen));
    }

    @Test
    void a_target_is_what_its_name_stands_for() {
        ModelName name = null;
        for (int i = 0; name == null || !name.served().equals("new"); i++) {
            name = of("r" + i);
        }
        assertEquals(new ModelName("m", "new", "base", "space"), name);
        assertEquals("base:new", name.on(EngineKind.SGLANG));
    }

    @Test
    void a_name_that_is_rewritten_is_known_though_nobody_serves_its_target_now() {
        FleetSnapshot fleet =
                new FleetSnapshot(
                        1,
                        List.of(
                                Worker.builder(1, "w", URI.create("http://127.0.0.1:1"))
                                        .models(Set.of("other"))
                                        .state(WorkerState.READY)
                                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                                        .build()));
        Duration soon = Duration.ofSeconds(1);
        assertInstanceOf(GatewayError.NoHealthyWorker.class, NAMES.unserved(fleet, "m", soon));
        assertInstanceOf(GatewayError.UnknownModel.class, NAMES.unserved(fleet, "nobody", soon));
    }
}
