package io.warmpath.bench;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.Visit;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.request.BodyEdits;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.session.AgentContext;
import io.warmpath.telemetry.UsageFeed;
import io.warmpath.telemetry.UsageTracing;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.usage.FleetHistory;
import io.warmpath.usage.UsageBook;
import java.net.URI;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to follow one request with one try into the books of 100 tenants and a worker. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class UsageBench {
    private static final int TENANTS = 100;
    private static final int PROMPT = 4_096;
    private static final DecisionLog.Ending ENDING =
            new DecisionLog.Ending(200, PROMPT, 200, true, 2_048, 40_000_000, 2_000_000_000);

    private static final ByteRange NO = ByteRange.ABSENT;
    private static final BodyEdits EDITS =
            new BodyEdits(
                    0, true, false, NO, NO, NO, NO, NO, NO, NO, BodyEdits.Answer.UNSAID, List.of());

    private final Visit[] visits = new Visit[TENANTS];
    private Tracing tracing;
    private InferenceRequest request;
    private RoutingDecision decision;

    @Setup
    public void build() {
        for (int i = 0; i < TENANTS; i++) {
            Grant grant =
                    new Grant(
                            "key" + i,
                            "tenant" + i,
                            false,
                            List.of(),
                            0,
                            0,
                            "",
                            1,
                            false,
                            false,
                            false);
            visits[i] =
                    new Visit(new Caller(grant, new Budgets(1), System::nanoTime), grant.tenant());
        }
        Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(0));
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(EngineKind.SGLANG)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(rank))
                        .build();
        Router router =
                Routers.create(
                        RouterOptions.of(RouterMode.KV),
                        new LoadTracker(),
                        ThreadLocalRandom::current);
        decision =
                router.decide(
                        RoutingRequest.builder(
                                        List.of(new Candidate(worker, 0, rank.slot())),
                                        PROMPT,
                                        List.of(PrefixMatch.none(16, PROMPT / 16)))
                                .build());
        InstantSource clock = InstantSource.system();
        FleetHistory history = new FleetHistory(clock::millis);
        history.came("w");
        UsageBook book = new UsageBook(TENANTS, clock::millis, UsageBook.Watch.NONE);
        LatencyPriors priors = LatencyPriors.DEFAULT;
        tracing =
                new UsageTracing(
                        new UsageFeed(
                                book,
                                history,
                                model -> true,
                                (to, tokens) ->
                                        router.prefillFactor(to.slot())
                                                * priors.prefillMillis((double) tokens, 0)),
                        clock);
        request =
                new InferenceRequest(
                        new InferenceRequest.Received(
                                "id",
                                "/v1/completions",
                                MultiMap.caseInsensitiveMultiMap(),
                                Buffer.buffer("{}")),
                        ModelName.plain("m"),
                        new PromptInput.Text("hi"),
                        InferenceRequest.CacheSalt.NONE,
                        InferenceRequest.Routing.FREE,
                        new RequestHints(
                                0,
                                0,
                                0,
                                "",
                                false,
                                null,
                                null,
                                null,
                                AgentContext.NONE,
                                false,
                                Set.of()),
                        EDITS,
                        InferenceRequest.Form.WHOLE);
    }

    @Benchmark
    public Tracing.Trace follow() {
        Visit visit = visits[ThreadLocalRandom.current().nextInt(TENANTS)];
        Tracing.Trace trace = tracing.begin(request, visit, 0);
        Tracing.Call call = trace.call(decision, PROMPT, 1_000);
        call.firstToken(40_000_000);
        call.compared(2_048, 2_048);
        call.ended("", ENDING, 2_000_000_000);
        trace.ended(Outcome.OK, "", 2_000_000_000);
        return trace;
    }
}
