package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.RoutingRequest.Detail;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions that are kept: what of them, and what they say they take. */
class KeptDecisionTest {
    private static final int BLOCK = 16;
    private static final int BLOCKS = 512;

    private final LoadTracker loads = new LoadTracker();
    private final SplittableRandom random = new SplittableRandom(1);
    private final Router router =
            Routers.create(
                    RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, LatencyPriors.DEFAULT),
                    loads,
                    () -> random);

    private RoutingRequest request(int workers, Detail detail) {
        List<Candidate> candidates = new ArrayList<>();
        int[] slots = new int[workers];
        int[] depths = new int[workers * Tier.COUNT];
        for (int i = 0; i < workers; i++) {
            Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(i));
            Worker worker =
                    Worker.builder(i, "w" + i, URI.create("http://w" + i))
                            .kind(EngineKind.SGLANG)
                            .models(Set.of("m"))
                            .blockSize(BLOCK)
                            .ranks(List.of(rank))
                            .build();
            candidates.add(new Candidate(worker, 0, rank.slot()));
            slots[i] = i;
        }
        int[] tokens = random.ints(BLOCKS * BLOCK, 0, 1 << 17).toArray();
        return RoutingRequest.builder(
                        List.copyOf(candidates),
                        BLOCKS * BLOCK,
                        List.of(new PrefixMatch(BLOCK, BLOCKS, slots, depths)))
                .prompts(List.of(loads.name("m", "", tokens, BLOCK)))
                .detail(detail)
                .build();
    }

    @Test
    void the_prompt_s_blocks_go_and_what_is_told_stays() {
        RoutingDecision whole = router.decide(request(3, Detail.ALL));
        RoutingDecision kept = whole.kept();
        assertEquals(List.of(), kept.request().prompts());
        assertEquals(whole.request().matches(), kept.request().matches());
        assertEquals(whole.reason(), kept.reason());
        assertEquals(whole.compared().terms(2), kept.compared().terms(2));
        assertEquals(whole.compared().pace(), kept.compared().pace());
        RoutingDecision brief = router.decide(request(3, Detail.CHOSEN)).kept();
        assertEquals(List.of(), brief.request().matches());
        assertEquals(3, brief.compared().size());
    }

    @ParameterizedTest
    @CsvSource({"8,CHOSEN", "8,ALL", "200,CHOSEN", "200,ALL"})
    @Tag("measured")
    void it_takes_no_more_than_it_says(int workers, Detail detail) {
        RoutingRequest request = request(workers, detail);
        int count = 400_000 / (100 + (detail == Detail.ALL ? 30 : 1) * workers);
        for (int i = 0; i < 2000; i++) {
            router.decide(request).kept();
        }
        RoutingDecision[] kept = new RoutingDecision[count];
        long said = 0;
        long before = used();
        for (int i = 0; i < count; i++) {
            RoutingRequest own = // as requests of their own have them
                    request.toBuilder()
                            .matches(
                                    List.of(
                                            new PrefixMatch(
                                                    BLOCK,
                                                    BLOCKS,
                                                    new int[workers],
                                                    new int[workers * Tier.COUNT])))
                            .build();
            RoutingDecision decision = router.decide(own);
            router.sent(decision, true);
            kept[i] = decision.kept();
            said += kept[i].heapBytes();
        }
        long taken = used() - before - 4L * count;
        String figures = taken / count + " bytes are taken, " + said / count + " are said";
        System.out.println(workers + " workers, " + detail + ": " + figures);
        assertTrue(kept[count - 1] != null && said >= taken, figures);
        assertTrue(said < 3 * taken, figures);
    }

    private static long used() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            used =
                    Math.min(
                            used,
                            ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return used;
    }
}
