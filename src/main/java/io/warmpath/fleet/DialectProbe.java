package io.warmpath.fleet;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;

/**
 * Learns a worker by its model list and by the dialects of the known engines, in order.
 *
 * <p>Stateless, any thread; blocks as {@link EngineHttp} does.
 */
public final class DialectProbe implements WorkerProbe {
    private static final Pattern DRAINING =
            Pattern.compile("\\bdrain(?:ing|ed)\\b", Pattern.CASE_INSENSITIVE);

    private final EngineHttp http;
    private final ModelList models;
    private final List<EngineDialect> dialects;
    private final String healthPath;
    private final ToIntFunction<Set<String>> defaultBlockSize;

    /**
     * @param defaultBlockSize tokens per block of workers that neither say nor are told, by the
     *     models that they serve
     */
    public DialectProbe(
            EngineHttp http,
            ModelList models,
            List<EngineDialect> dialects,
            String healthPath,
            ToIntFunction<Set<String>> defaultBlockSize) {
        this.http = http;
        this.models = models;
        this.dialects = List.copyOf(dialects);
        this.healthPath = healthPath;
        this.defaultBlockSize = defaultBlockSize;
    }

    @Override
    public WorkerProfile learn(WorkerSpec spec) throws ProbeException {
        try {
            Set<String> served = spec.models().isEmpty() ? served(spec.url()) : spec.models();
            EngineFacts facts = facts(spec);
            int dpSize = firstPositive(spec.dpSize(), facts.dpSize(), 1);
            return new WorkerProfile(
                    facts.kind(),
                    facts.version(),
                    served,
                    firstPositive(
                            spec.blockSize(),
                            facts.blockSize(),
                            defaultBlockSize.applyAsInt(served)),
                    spec.blockSize() == 0 && facts.blockSize() == 0,
                    dpSize,
                    spec.capacity().or(facts.capacity()),
                    events(spec, facts, dpSize),
                    facts.offload().with(spec.pool()),
                    spec.priorities() == null ? facts.priorities() : spec.priorities(),
                    facts.sessions(),
                    disagreements(spec, facts));
        } catch (IOException | IllegalArgumentException e) {
            throw new ProbeException(spec.url() + ": " + e.getMessage(), e);
        }
    }

    /** The record counts all the same; but one of the two is wrong. */
    private List<String> disagreements(WorkerSpec spec, EngineFacts facts) {
        List<String> all = new ArrayList<>();
        compare(all, "block-size", spec.blockSize(), facts.blockSize());
        compare(all, "dp-size", spec.dpSize(), facts.dpSize());
        compare(
                all,
                "max-num-batched-tokens",
                spec.capacity().batchedTokens(),
                facts.capacity().batchedTokens());
        compare(all, "total-kv-blocks", spec.capacity().kvBlocks(), facts.capacity().kvBlocks());
        return all;
    }

    private static void compare(List<String> all, String what, long told, long said) {
        if (told > 0 && said > 0 && told != said) {
            all.add(what + ": " + told + " by its record, " + said + " by its engine");
        }
    }

    private Set<String> served(URI worker) throws IOException {
        EngineHttp.Answer answer = http.get(worker, "/v1/models");
        if (!answer.ok()) {
            throw new IOException("GET /v1/models answered " + answer.status());
        }
        Set<String> names = models.read(answer.body());
        if (names.isEmpty()) {
            throw new IOException("GET /v1/models lists no model");
        }
        return names;
    }

    private EngineFacts facts(WorkerSpec spec) throws IOException {
        EngineKind told = spec.kind();
        for (EngineDialect dialect : dialects) {
            if (told == null || told == dialect.kind()) {
                Optional<EngineFacts> facts = dialect.ask(spec.url(), http);
                if (facts.isPresent()) {
                    return facts.get();
                }
            }
        }
        // An engine of the told kind that hides its interface is still of that kind.
        return new EngineFacts(
                told == null ? EngineKind.OPENAI : told, "", 0, 0, Capacity.UNKNOWN, List.of());
    }

    private static List<EventEndpoint> events(WorkerSpec spec, EngineFacts facts, int dpSize) {
        String told = spec.eventsEndpoint();
        if (told != null) {
            return EventEndpoint.perRank(
                    told, spec.replayEndpoint(), spec.eventsBind(), spec.topic(), dpSize);
        }
        return facts.events().stream().filter(e -> e.dpRank() < dpSize).toList();
    }

    private static int firstPositive(int a, int b, int otherwise) {
        return a > 0 ? a : b > 0 ? b : otherwise;
    }

    @Override
    public List<EngineLoad> load(WorkerSpec spec, EngineKind kind) throws ProbeException {
        try {
            for (EngineDialect dialect : dialects) {
                if (dialect.kind() == kind) {
                    return dialect.load(spec.url(), http);
                }
            }
            return List.of();
        } catch (IOException e) {
            throw new ProbeException(spec.url() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public Health health(WorkerSpec spec) {
        try {
            EngineHttp.Answer answer = http.get(spec.url(), healthPath);
            if (answer.ok()) {
                return saysDraining(answer.body())
                        ? new Health(Verdict.DRAINING, "it says that it is draining")
                        : new Health(Verdict.OK, "");
            }
            String told = "GET " + healthPath + " answered " + answer.status();
            if (answer.status() != 503) {
                return new Health(Verdict.FAILING, told);
            }
            return saysDraining(answer.body())
                    ? new Health(Verdict.DRAINING, told + ", draining")
                    : new Health(Verdict.UNAVAILABLE, told);
        } catch (ConnectException e) {
            return new Health(Verdict.REFUSED, "connection refused");
        } catch (IOException e) {
            return new Health(Verdict.FAILING, "GET " + healthPath + ": " + e.getMessage());
        }
    }

    /** As {@code {"status": "draining"}}, in whatever form an engine or what is before it has. */
    private static boolean saysDraining(String body) {
        return body.length() < 4096 && DRAINING.matcher(body).find();
    }
}
