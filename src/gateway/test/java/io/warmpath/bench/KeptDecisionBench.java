package io.warmpath.bench;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.gateway.request.BodyEdits;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.tokens.template.PromptInput;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
 * A decision over {@code workers} candidates and its end, that is kept or not: with the costs that
 * were compared, or with all terms.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class KeptDecisionBench {
    private static final int BLOCK = 16;
    private static final int BLOCKS = 256;
    private static final int MANY = 1_000_000_000;
    private static final Occasion OCCASION = new Occasion("t", "", 1, DecisionCause.FIRST);
    private static final DecisionLog.Ending ENDING =
            new DecisionLog.Ending(200, 4310, 212, true, 4096, 38_000_000, 2_417_000_000L);

    /** How much of each decision is kept. */
    public enum Kept {
        OFF(0, 0),
        COSTS(10_000, 0),
        TERMS(10_000, MANY);

        private final int decisions;
        private final int terms;

        Kept(int decisions, int terms) {
            this.decisions = decisions;
            this.terms = terms;
        }
    }

    @Param({"8", "100"})
    public int workers;

    @Param public Kept kept;

    private DecisionLog log;
    private Router router;
    private RoutingRequest brief;
    private RoutingRequest whole;
    private InferenceRequest request;

    @Setup
    public void build() {
        log =
                new DecisionLog(
                        new DecisionLog.Bounds(kept.decisions, 16 << 20, MANY, kept.terms),
                        null,
                        InstantSource.system(),
                        System::nanoTime);
        LoadTracker loads = new LoadTracker();
        router =
                Routers.create(
                        RouterOptions.of(RouterMode.KV)
                                .with(CostKind.LATENCY, LatencyPriors.DEFAULT),
                        loads,
                        ThreadLocalRandom::current);
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
        brief =
                RoutingRequest.builder(
                                List.copyOf(candidates),
                                BLOCKS * BLOCK,
                                List.of(new PrefixMatch(BLOCK, BLOCKS, slots, depths)))
                        .build();
        whole = brief.with(RoutingRequest.Detail.ALL);
        MultiMap headers = MultiMap.caseInsensitiveMultiMap();
        for (String name : List.of("host", "content-type", "content-length", "authorization")) {
            headers.set(name, "x");
        }
        request =
                new InferenceRequest(
                        new InferenceRequest.Received(
                                "req-0123456789abcdef0123456789abcdef",
                                "/v1/chat/completions",
                                headers,
                                Buffer.buffer()),
                        ModelName.plain("m"),
                        new PromptInput.Opaque("none"),
                        InferenceRequest.CacheSalt.NONE,
                        InferenceRequest.Routing.FREE,
                        RequestHints.NONE,
                        new BodyEdits(
                                1,
                                false,
                                false,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                ByteRange.ABSENT,
                                BodyEdits.Answer.UNSAID,
                                List.of()),
                        InferenceRequest.Form.WHOLE);
    }

    @Benchmark
    public DecisionLog.Wanted decideKeepAndEnd() {
        DecisionLog.Wanted wanted = log.wanted(workers);
        log.ended(
                log.add(request, OCCASION, router.decide(wanted.terms() ? whole : brief), wanted),
                "",
                ENDING);
        return wanted;
    }
}
