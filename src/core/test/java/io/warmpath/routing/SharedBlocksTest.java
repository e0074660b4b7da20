package io.warmpath.routing;

import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Decode blocks count what runs on a rank already once. */
class SharedBlocksTest {
    private static final int B = 2;

    private final LoadTracker loads = new LoadTracker();
    private final Router router =
            Routers.create(
                    RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS),
                    loads,
                    () -> RandomGenerator.of("L64X128MixRandom"),
                    System::nanoTime);

    @Test
    void blocks_that_run_there_already_are_not_counted_a_second_time() {
        PromptBlocks running = loads.name("m", "", new int[] {1, 1, 2, 2, 3, 3}, B);
        PromptBlocks asked = loads.name("m", "", new int[] {1, 1, 2, 2, 9, 9, 8}, B);
        loads.book(new WorkerSlot(0), 0, running, 0).firstToken();
        loads.book(new WorkerSlot(1), 0, 3).firstToken();
        RoutingDecision d =
                router.decide(request(workers(2, B), asked.tokens()).withPrompts(List.of(asked)));
        assertEquals(3 + 2, d.scores().get(0).decodeBlocks(), 1e-9);
        assertEquals(3 + 4, d.scores().get(1).decodeBlocks(), 1e-9);
        assertEquals("w0", d.chosen().candidate().worker().name());
    }
}
