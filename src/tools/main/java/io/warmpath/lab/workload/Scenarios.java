package io.warmpath.lab.workload;

import io.warmpath.sim.virtual.EngineModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/** The standing scenarios, by name. */
public final class Scenarios {
    private static final EngineModel SMALL = EngineModel.SMALL;
    private static final EngineModel LARGE = EngineModel.LARGE;
    private static final int FLEET = 8;

    private static final ChatShape CHAT =
            new ChatShape(6000, 20, 1500, 6, 1500, 250, 350, 20, false);
    private static final ChatShape DIURNAL =
            new ChatShape(6000, 20, 1500, 6, 1500, 250, 350, 20, true);
    private static final ChatShape LONG_CHAT =
            new ChatShape(2400, 8, 3000, 10, 6000, 900, 400, 25, false);
    private static final AgentShape AGENT = new AgentShape(500, 18, 1500, 1200, 180, 4, 0.3);
    private static final GroupShape GROUPS =
            new GroupShape(12_000, 0, 150, 0, 6000, 0, 1, 1200, 0.1, 1000, 0.1, 0, 0);
    private static final GroupShape DOCS =
            new GroupShape(14_000, 0, 400, 0.9, 16_000, 0.8, 1, 150, 0.5, 150, 0.5, 0, 0);
    private static final GroupShape BURST =
            new GroupShape(4800, 0, 100_000, 0, 24_576, 0, 0.5, 8192, 0.05, 1, 0.01, 16, 50);
    private static final GroupShape HOT =
            new GroupShape(16_000, 6000, 1, 0, 0, 0, 1, 1500, 0.8, 250, 0.5, 0, 0);
    private static final GroupShape NO_SHARE =
            new GroupShape(16_000, 0, 1, 0, 0, 0, 1, 4000, 1.2, 300, 0.5, 0, 0);

    private static final RagShape RAG = new RagShape(14_000, 1500, 6, 700, 0.08);
    private static final EditShape CODE = new EditShape(1500, 30, 2500, 12_000, 30, 1.5, 0.12);
    private static final EvalShape EVAL = new EvalShape(150, 120, 8000, 300, 12, 1.5);
    private static final TenantShape TENANTS = new TenantShape(7000, 600, 5000, 60, 3);

    /** Those of the standing table. */
    public static final List<Scenario> STANDING =
            List.of(
                    of("chat", "conversations over 20 system prompts", 2000, 6.0, CHAT::draw),
                    of("longchat", "long conversations, 20k tokens", 2000, 0.745, LONG_CHAT::draw),
                    of("agent", "leads and sub-agents with tools", 2000, 0.327, AGENT::draw),
                    host("agenth", "agent, host memory", 3, 2000, 0.456, AGENT::draw),
                    of("diurnal", "chat with swings and spikes", 2000, 5.5, DIURNAL::draw),
                    large("groups", "150 prefixes, long answers", 2000, 16.2, GROUPS::draw),
                    large("docqa", "questions about 400 documents", 4000, 15.1, DOCS::draw),
                    of("burst32k", "bursts of 16 prompts of 32k", 6000, 3.24, BURST::draw),
                    of("hot", "one system prompt in all requests", 2000, 49.2, HOT::draw),
                    of("noshare", "nothing shared", 2000, 33.6, NO_SHARE::draw),
                    of("conv", "Mooncake conversation trace", 4000, 2.54, trace("conversation")),
                    large("conv70", "the same, 70B", 10_000, 1.7, trace("conversation")),
                    host("convh", "conv, host memory", 4, 4000, 2.84, trace("conversation")),
                    new Scenario(
                            "conv32",
                            "conv, 32 engines, host memory",
                            SMALL,
                            32,
                            2,
                            4000,
                            12.9,
                            List.of(),
                            trace("conversation")),
                    of("synth", "Mooncake synthetic trace", 4000, 2.47, trace("synthetic")),
                    host("synthh", "synth, host memory", 4, 4000, 3.88, trace("synthetic")));

    private static final Scenario PLAIN = STANDING.getFirst();

    /** Chat with something wrong; at most loads that the rest of the fleet can carry. */
    public static final List<Scenario> FAULTS =
            List.of(
                    PLAIN.with("chat-fast", "one engine twice as fast", Fault.speed(0, 2)),
                    PLAIN.with("chat-slow", "one engine half as fast", Fault.speed(0, 0.5)),
                    PLAIN.with(
                            "chat-frozen", "one engine frozen for 30 s", Fault.freeze(0, 0.5, 30)),
                    PLAIN.with("chat-join", "the eighth engine joins cold", Fault.join(7, 0.25)));

    /** None of our constants was chosen on these. */
    public static final List<Scenario> UNSEEN =
            List.of(
                    of("rag", "retrieved passages, most topics rare", 2000, 47.1, RAG::draw),
                    of("code", "completion, rolling edits", 1000, 1.96, CODE::draw),
                    of("eval", "few-shot tasks of short items", 2000, 169, EVAL::draw),
                    of("tenants", "600 prompts that change", 2000, 29.8, TENANTS::draw));

    private Scenarios() {}

    /** All of them. */
    public static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>(STANDING);
        all.addAll(FAULTS);
        all.addAll(UNSEEN);
        all.addAll(Complaints.ALL);
        all.addAll(Weaknesses.ALL);
        return all;
    }

    public static Optional<Scenario> find(String name) {
        return all().stream().filter(s -> s.name().equals(name)).findFirst();
    }

    private static LongFunction<Workload> trace(String file) {
        return seed -> Trace.read(file);
    }

    private static Scenario of(
            String name, String about, double slo, double capacity, LongFunction<Workload> draw) {
        return new Scenario(name, about, SMALL, FLEET, 0, slo, capacity, List.of(), draw);
    }

    private static Scenario large(
            String name, String about, double slo, double capacity, LongFunction<Workload> draw) {
        return new Scenario(name, about, LARGE, FLEET, 0, slo, capacity, List.of(), draw);
    }

    private static Scenario host(
            String name,
            String about,
            double factor,
            double slo,
            double capacity,
            LongFunction<Workload> draw) {
        return new Scenario(name, about, SMALL, FLEET, factor, slo, capacity, List.of(), draw);
    }
}
