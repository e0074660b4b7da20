package io.warmpath.bench;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One decision over {@code workers} candidates, all of which hold something: with the chosen one's
 * terms, with everybody's, with a prompt that runs there already, and with its booking.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class DecideBench {
    private static final int BLOCK = 16;
    private static final int BLOCKS = 512;

    @Param({"8", "100", "1000"})
    public int workers;

    @Param({"BLOCKS", "LATENCY"})
    public CostKind cost;

    private LoadTracker loads;
    private Router router;
    private RoutingRequest request;
    private RoutingRequest explained;
    private RoutingRequest named;

    @Setup
    public void build() {
        loads = new LoadTracker();
        RouterOptions options = RouterOptions.of(RouterMode.KV).with(cost, LatencyPriors.DEFAULT);
        router = Routers.create(options, loads, ThreadLocalRandom::current);
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
            Arrays.fill(depths, i * Tier.COUNT, (i + 1) * Tier.COUNT, 1 + i * 31 % BLOCKS);
            loads.book(rank.slot(), i * 17 % 4000, i * 13 % 900);
        }
        request = request(List.copyOf(candidates), slots, depths, OptionalLong.empty());
        explained = request.with(RoutingRequest.Detail.ALL);
        int[] tokens = new SplittableRandom(1).ints(BLOCKS * BLOCK, 0, 1 << 17).toArray();
        named = request.withPrompts(List.of(loads.name("m", "", tokens, BLOCK)));
        for (int i = 0; i < workers; i++) { // of which half of the prompt runs everywhere
            int[] half = Arrays.copyOf(tokens, tokens.length / 2);
            loads.book(new WorkerSlot(i), 0, loads.name("m", "", half, BLOCK), 0).firstToken();
        }
        for (int i = 0; i < workers; i++) { // so that each has something running
            RoutingRequest there =
                    request(List.copyOf(candidates), slots, depths, OptionalLong.of(i));
            router.sent(router.decide(there), true).firstToken();
        }
    }

    private static RoutingRequest request(
            List<Candidate> candidates, int[] slots, int[] depths, OptionalLong worker) {
        return RoutingRequest.builder(
                        candidates,
                        BLOCKS * BLOCK,
                        List.of(new PrefixMatch(BLOCK, BLOCKS, slots, depths)))
                .pinnedWorker(worker)
                .build();
    }

    @Benchmark
    public RoutingDecision explain() {
        return router.decide(explained);
    }

    @Benchmark
    public RoutingDecision decide() {
        return router.decide(request);
    }

    /** The prompt's blocks have names, and half of them run everywhere already. */
    @Benchmark
    public RoutingDecision decideNamed() {
        return router.decide(named);
    }

    @Benchmark
    public LoadBook.Booking decideBookAndFree() {
        RoutingDecision d = router.decide(request);
        LoadBook.Booking booking =
                loads.book(d.chosen().candidate().slot(), d.chosen().prefillTokens(), d.blocks());
        booking.firstToken();
        booking.close();
        return booking;
    }
}
