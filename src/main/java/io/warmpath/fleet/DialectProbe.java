package io.warmpath.fleet;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * Learns a worker by its model list and by the dialects of the known engines, in order.
 *
 * <p>Stateless, any thread; blocks as {@link EngineHttp} does.
 */
public final class DialectProbe implements WorkerProbe {
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
                    spec.priorities() == null ? facts.priorities() : spec.priorities());
        } catch (IOException | IllegalArgumentException e) {
            throw new ProbeException(spec.url() + ": " + e.getMessage(), e);
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
    public Health health(WorkerSpec spec) {
        try {
            EngineHttp.Answer answer = http.get(spec.url(), healthPath);
            return answer.ok()
                    ? new Health(Verdict.OK, "")
                    : new Health(
                            Verdict.FAILING, "GET " + healthPath + " answered " + answer.status());
        } catch (ConnectException e) {
            return new Health(Verdict.REFUSED, "connection refused");
        } catch (IOException e) {
            return new Health(Verdict.FAILING, "GET " + healthPath + ": " + e.getMessage());
        }
    }
}
