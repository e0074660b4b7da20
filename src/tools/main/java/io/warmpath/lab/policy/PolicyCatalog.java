package io.warmpath.lab.policy;

import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.SharedRule;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.sim.virtual.EngineModel;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The policies by name. */
public final class PolicyCatalog {
    /** What engines share, for references that no router can reach. */
    public enum Memory {
        OWN,
        /** One cache of the fleet's size, readable everywhere at no cost. */
        POOLED,
        /** The same without a limit. */
        INFINITE
    }

    /** Whose rule it is. */
    public enum Kind {
        OURS,
        PEER,
        REFERENCE,
        /** A plain rule that shows what a complaint is about. */
        NAIVE
    }

    /** {@code about}: in a few words. */
    public record Named(
            String name, Kind kind, String about, Memory memory, Function<World, Policy> make) {
        Named(String name, Kind kind, String about, Function<World, Policy> make) {
            this(name, kind, about, Memory.OWN, make);
        }
    }

    /** As its documents give it; ours may change, this stays. */
    private static final BlockWeights DYNAMO =
            new BlockWeights(1, 0, 1, 0.75, 0.25, 0.5, SharedRule.CONTIGUOUS, 0, true);

    public static final List<Named> ALL =
            List.of(
                    new Named(
                            "kv",
                            Kind.OURS,
                            "cost in blocks",
                            w -> blocks(w, BlockWeights.DEFAULT)),
                    new Named(
                            "latency",
                            Kind.OURS,
                            "the default: cost in milliseconds, priors of the engine model",
                            w -> new ProductPolicy(w, latency(w))),
                    mode("least-loaded", RouterMode.LEAST_LOADED, "fewest running requests"),
                    mode("power-of-two", RouterMode.POWER_OF_TWO, "fewer requests of two drawn"),
                    mode("round-robin", RouterMode.ROUND_ROBIN, "in turn"),
                    mode("random", RouterMode.RANDOM, "at random"),
                    peer("dynamo", "Dynamo's default cost", w -> blocks(w, DYNAMO)),
                    peer("agentic", "Dynamo's preset agentic", w -> blocks(w, DYNAMO.agentic())),
                    peer("lmetric", "Dynamo's lmetric", LmetricPolicy::new),
                    peer("smg", "smg cache_aware, 0.3 / 64 / 1.5", SmgPolicy::new),
                    peer("llm-d", "llm-d, weights 3 / 2 / 2, precise index", LlmdPolicy::new),
                    peer("llm-d-guide", "llm-d, token load, affinity", LlmdGuidePolicy::new),
                    peer("preble", "Preble's E2", PreblePolicy::new),
                    peer(
                            "seed-002",
                            "vLLM cache-aware: 0.3, load factor 1.25",
                            w ->
                                    new ProductPolicy(
                                            w, RouterOptions.of(RouterMode.VLLM_CACHE_AWARE))),
                    new Named(
                            "pooled",
                            Kind.REFERENCE,
                            "one cache of the fleet's size for all",
                            Memory.POOLED,
                            PooledPolicy::new),
                    new Named(
                            "infinite",
                            Kind.REFERENCE,
                            "the same without a limit",
                            Memory.INFINITE,
                            PooledPolicy::new));

    /** In no report unless it is named. */
    static final List<Named> NAIVE =
            List.of(
                    naive("first-of-equals", "least work, equals not at random", NaivePolicy.FIRST),
                    naive(
                            "late-count",
                            "fewest that have begun to answer",
                            NaivePolicy.COUNTED_AT_FIRST_TOKEN),
                    naive(
                            "longest-prefix",
                            "who holds most, however busy",
                            NaivePolicy.LONGEST_PREFIX),
                    naive(
                            "drops-affinity",
                            "who holds most, when loads differ who has fewest",
                            NaivePolicy.DROPS_AFFINITY),
                    naive(
                            "smallest-cache",
                            "who holds most, else the smallest cache",
                            NaivePolicy.SMALLEST_CACHE));

    private PolicyCatalog() {}

    /** {@code kv-pool=0.3} is the cost in blocks with that worth of a block in the pool. */
    private static final Pattern POOL = Pattern.compile("kv-pool=(0|1|0\\.\\d{1,3})");

    /** {@code latency-priors=10} is the cost in milliseconds with priors ten times too slow. */
    private static final Pattern PRIORS =
            Pattern.compile("latency-priors=(0\\.0*[1-9]\\d?|[1-9]\\d{0,2})");

    /**
     * {@code pair=4@25}: the first four engines compute prompts, at 25 Gbit/s (100 unless said).
     */
    private static final Pattern HALVES =
            Pattern.compile(
                    "(pair|pair-apart|smg-pd|dynamo-pd|dynamo-cond|llm-d-pd|llm-d-apart)=([1-9]\\d{0,3})(?:@([1-9]\\d{0,4}))?");

    private static final double GIGABITS = 100;

    /** Load alone, in blocks of what runs. */
    private static final BlockWeights DYNAMO_DECODE =
            new BlockWeights(0, 0, 0, 0, 0, 0, SharedRule.CONTIGUOUS, 0, false);

    /** Some engines compute prompts for the others. */
    public static boolean splits(String name) {
        return HALVES.matcher(name).matches();
    }

    private static Named halves(String name, Matcher of) {
        double rate = of.group(3) == null ? GIGABITS : Double.parseDouble(of.group(3));
        boolean ours = of.group(1).equals("pair");
        Halves halves = new Halves(Integer.parseInt(of.group(2)), rate, !ours);
        return switch (of.group(1)) {
            case "pair", "pair-apart" ->
                    new Named(
                            name,
                            Kind.OURS,
                            "prefill and decode on two engines, chosen together",
                            w -> new ProductPolicy(w, latency(w), halves));
            case "smg-pd" ->
                    pairs(
                            name,
                            halves,
                            SmgPolicy::new,
                            w -> new NaivePolicy(w, NaivePolicy.FEWEST),
                            PairedPolicy.Gate.ALWAYS);
            case "llm-d-pd" ->
                    pairs(name, halves, LlmdPolicy::new, LlmdPolicy::new, PairedPolicy.Gate.LLM_D);
            case "llm-d-apart" ->
                    pairs(name, halves, LlmdPolicy::new, LlmdPolicy::new, PairedPolicy.Gate.ALWAYS);
            case "dynamo-pd" ->
                    pairs(
                            name,
                            halves,
                            w -> blocks(w, DYNAMO),
                            w -> blocks(w, DYNAMO_DECODE),
                            PairedPolicy.Gate.ALWAYS);
            default ->
                    pairs(
                            name,
                            halves,
                            w -> blocks(w, DYNAMO),
                            w -> new NaivePolicy(w, NaivePolicy.FEWEST),
                            PairedPolicy.Gate.DYNAMO);
        };
    }

    private static Named pairs(
            String name,
            Halves halves,
            Function<World, Policy> prefill,
            Function<World, Policy> decode,
            PairedPolicy.Gate gate) {
        return peer(
                name,
                "prefill and decode on two engines",
                w -> new PairedPolicy(w, halves, prefill, decode, gate));
    }

    public static Optional<Named> find(String name) {
        Matcher halves = HALVES.matcher(name);
        if (halves.matches()) {
            return Optional.of(halves(name, halves));
        }
        Matcher priors = PRIORS.matcher(name);
        if (priors.matches()) {
            double wrong = Double.parseDouble(priors.group(1));
            return Optional.of(
                    new Named(
                            name,
                            Kind.OURS,
                            "latency, priors times " + wrong,
                            w -> new ProductPolicy(w, latency(w, wrong))));
        }
        Matcher pool = POOL.matcher(name);
        if (pool.matches()) {
            BlockWeights weights =
                    BlockWeights.DEFAULT.withShared(
                            Double.parseDouble(pool.group(1)), SharedRule.CONTIGUOUS);
            return Optional.of(ours(name, blocks(weights)));
        }
        return Stream.concat(ALL.stream(), NAIVE.stream())
                .filter(p -> p.name().equals(name))
                .findFirst();
    }

    private static Named naive(String name, String about, NaivePolicy.Rule rule) {
        return new Named(name, Kind.NAIVE, about, w -> new NaivePolicy(w, rule));
    }

    private static Named peer(String name, String about, Function<World, Policy> make) {
        return new Named(name, Kind.PEER, about, make);
    }

    private static Policy blocks(World world, BlockWeights weights) {
        return new ProductPolicy(world, blocks(weights));
    }

    private static RouterOptions blocks(BlockWeights weights) {
        return RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS).with(weights);
    }

    private static Named mode(String name, RouterMode mode, String about) {
        return new Named(name, Kind.OURS, about, w -> new ProductPolicy(w, RouterOptions.of(mode)));
    }

    /** A configuration of the product. */
    public static Named ours(String name, RouterOptions options) {
        return new Named(name, Kind.OURS, "", w -> new ProductPolicy(w, options));
    }

    static RouterOptions latency(World world) {
        return latency(world, 1);
    }

    private static RouterOptions latency(World world, double wrong) {
        return RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, priors(world.model(), wrong));
    }

    /** What an operator would set for this engine. */
    public static LatencyPriors priors(EngineModel m) {
        return priors(m, 1);
    }

    /** {@code wrong}: by which all times are too long, above 0. */
    private static LatencyPriors priors(EngineModel m, double wrong) {
        return new LatencyPriors(
                wrong * (m.stepMillis() + m.weightsMillis()),
                wrong * m.millisPerSequence(),
                wrong * m.millisPerHeldToken(),
                wrong * m.millisPerToken(),
                wrong * m.millisPerPair(),
                m.hostTokensPerSecond() / wrong,
                m.poolTokensPerSecond() / wrong,
                LatencyPriors.DEFAULT.workPrice(),
                LatencyPriors.DEFAULT.outputTokens());
    }
}
