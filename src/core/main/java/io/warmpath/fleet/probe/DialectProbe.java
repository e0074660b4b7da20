package io.warmpath.fleet.probe;

import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * Learns a worker by its model list and by the dialects of the known engines, in order. Stateless,
 * any thread; blocks as {@link EngineHttp} does.
 */
public final class DialectProbe implements WorkerProbe {
    /** An engine of which only OpenAI's interface is known. Some have no path for health. */
    private static final EngineDialect UNKNOWN =
            new EngineDialect() {
                @Override
                public EngineKind kind() {
                    return EngineKind.OPENAI;
                }

                @Override
                public Optional<EngineFacts> ask(URI worker, EngineHttp http) {
                    return Optional.empty();
                }

                @Override
                public Health health(URI worker, EngineHttp http, Duration patience)
                        throws IOException {
                    EngineHttp.Answer answer = http.get(worker, "/health");
                    return answer.status() == 404
                            ? HealthAnswers.read("/v1/models", http.get(worker, "/v1/models"))
                            : HealthAnswers.read("/health", answer);
                }
            };

    /** Adapters may be many; one engine's are no more. */
    private static final int MOST_MODELS = 1_000;

    private static final int LONGEST_MODEL = 256;

    private final EngineHttp http;
    private final ModelList models;
    private final List<EngineDialect> dialects;
    private final Optional<String> healthPath;
    private final Duration patience;
    private final ToIntFunction<Set<String>> defaultBlockSize;

    /**
     * @param healthPath what is asked of every worker; empty: what its kind of engine is best asked
     * @param patience with questions that an engine answers only after it has tried itself out
     * @param defaultBlockSize tokens per block of workers that neither say nor are told, by the
     *     models that they serve
     */
    public DialectProbe(
            EngineHttp http,
            ModelList models,
            List<EngineDialect> dialects,
            Optional<String> healthPath,
            Duration patience,
            ToIntFunction<Set<String>> defaultBlockSize) {
        this.http = http;
        this.models = models;
        this.dialects = List.copyOf(dialects);
        this.healthPath = healthPath;
        this.patience = patience;
        this.defaultBlockSize = defaultBlockSize;
    }

    @Override
    public WorkerProfile learn(WorkerSpec spec) throws ProbeException {
        try {
            if (spec.role() == Role.ENCODE) {
                requireHealth(spec);
            }
            Listed listed = listed(spec);
            ServedModels served = listed.used;
            Unread unread = new Unread();
            EngineFacts facts = facts(spec, unread);
            facts.unread().forEach(unread::add);
            int told = facts.blockSize();
            if (told > PrefixIndex.MAX_BLOCK_SIZE) {
                unread.add("block-size: " + told + " by its engine");
                told = 0;
            }
            EngineRanks ranks = ranks(spec, facts);
            List<EventEndpoint> events =
                    unread.read(Unread.EVENTS, () -> events(spec, facts, ranks.count()), List.of());
            Disaggregation part = facts.disaggregation().or(spec, facts.kind());
            return new WorkerProfile(
                    facts.kind(),
                    facts.version(),
                    served,
                    firstPositive(
                            spec.blockSize(),
                            told,
                            firstPositive(
                                    dialect(facts.kind()).usualBlockSize(),
                                    defaultBlockSize.applyAsInt(served.names()),
                                    0)),
                    spec.blockSize() == 0 && told == 0,
                    ranks,
                    spec.capacity().or(facts.capacity()),
                    events,
                    facts.offload().with(spec.pool()),
                    spec.priorities() == null ? facts.priorities() : spec.priorities(),
                    facts.sessions(),
                    // Who is to find a prompt by a registry that is not known finds none there.
                    unread.read(
                            "bootstrap",
                            () -> dialect(facts.kind()).registered(spec.url(), part, http),
                            Disaggregation.NONE),
                    facts.cache(),
                    disagreements(spec, facts, listed.count, served.names().size()),
                    unread.all(),
                    events.isEmpty() ? unread.of(Unread.EVENTS) : "");
        } catch (IOException | IllegalArgumentException e) {
            throw new ProbeException(ProbeAdvice.of(e), e);
        }
    }

    /** An engine that encodes media has a health check; SGLang's tells nothing else of itself. */
    private void requireHealth(WorkerSpec spec) throws ProbeException {
        Health seen = health(spec, EngineKind.OPENAI);
        if (seen.verdict() != Verdict.OK) {
            throw new ProbeException(seen.detail());
        }
    }

    @Override
    public ServedModels served(WorkerSpec spec) throws ProbeException {
        try {
            return listed(spec).used;
        } catch (IOException e) {
            throw new ProbeException(spec.url() + ": " + e.getMessage(), e);
        }
    }

    /**
     * @param count of the models that are told
     * @param used the first of them, as far as they are names: an engine's list has no bound of its
     *     own
     */
    private record Listed(int count, ServedModels used) {}

    private Listed listed(WorkerSpec spec) throws IOException {
        if (spec.role() == Role.ENCODE) {
            return new Listed(0, ServedModels.NONE);
        }
        if (!spec.models().isEmpty()) {
            return new Listed(spec.models().size(), ServedModels.of(spec.models()));
        }
        SequencedMap<String, String> all = told(spec.url());
        Set<String> used =
                all.keySet().stream()
                        .filter(m -> m.length() <= LONGEST_MODEL)
                        .limit(MOST_MODELS)
                        .collect(Collectors.toSet());
        if (used.isEmpty()) {
            throw new EngineAnswerException(
                    200,
                    "GET /v1/models lists no model of at most " + LONGEST_MODEL + " characters");
        }
        Map<String, String> bases = new HashMap<>();
        all.forEach(
                (model, base) -> {
                    if (used.contains(model) && used.contains(base)) {
                        bases.put(model, base);
                    }
                });
        return new Listed(all.size(), new ServedModels(used, bases));
    }

    /**
     * The record counts all the same; but one of the two is wrong.
     *
     * @param listed models that the engine has told
     * @param used of these
     */
    private List<String> disagreements(WorkerSpec spec, EngineFacts facts, int listed, int used) {
        List<String> all = new ArrayList<>();
        if (used < listed) {
            all.add(
                    ("models: %s are listed, the first %s of at most %s characters are used,"
                                    + " %s left out")
                            .formatted(listed, MOST_MODELS, LONGEST_MODEL, listed - used));
        }
        compare(all, "block-size", spec.blockSize(), facts.blockSize());
        compare(all, "dp-size", spec.dpSize(), facts.ranks().count());
        compare(
                all,
                "max-num-batched-tokens",
                spec.capacity().batchedTokens(),
                facts.capacity().batchedTokens());
        Role told = facts.disaggregation().role();
        boolean tells = facts.kind() == EngineKind.SGLANG && spec.role() != Role.ENCODE;
        if (spec.role() != null && spec.role() != told && tells) {
            all.add(
                    "role: %s by its record, %s by its engine"
                            .formatted(spec.role().label(), told.label()));
        }
        compare(all, "total-kv-blocks", spec.capacity().kvBlocks(), facts.capacity().kvBlocks());
        return all;
    }

    private static void compare(List<String> all, String what, long configured, long reported) {
        if (configured > 0 && reported > 0 && configured != reported) {
            all.add(what + ": " + configured + " by its record, " + reported + " by its engine");
        }
    }

    private SequencedMap<String, String> told(URI worker) throws IOException {
        EngineHttp.Answer answer = http.get(worker, "/v1/models");
        if (!answer.ok()) {
            throw new EngineAnswerException(
                    answer.status(), "GET /v1/models answered " + answer.status());
        }
        SequencedMap<String, String> names = models.read(answer.body());
        if (names.isEmpty()) {
            throw new EngineAnswerException(200, "GET /v1/models lists no model");
        }
        return names;
    }

    private EngineFacts facts(WorkerSpec spec, Unread unread) throws IOException {
        EngineKind configured = spec.kind();
        Unread open = new Unread();
        for (EngineDialect dialect : dialects) {
            boolean fits = configured == null || configured == dialect.kind();
            if (fits && spec.role() != Role.ENCODE) {
                Optional<EngineFacts> facts = ask(dialect, spec.url(), open);
                if (facts.isPresent()) {
                    return facts.get();
                }
            }
        }
        open.all().forEach(unread::add);
        // An engine of the told kind that hides its interface is still of that kind.
        return new EngineFacts(
                configured == null ? EngineKind.OPENAI : configured,
                "",
                0,
                0,
                Capacity.UNKNOWN,
                List.of(),
                List.of());
    }

    /** Twice where no answer comes: on its kind hangs how it has to be asked for everything. */
    private Optional<EngineFacts> ask(EngineDialect dialect, URI worker, Unread open)
            throws IOException {
        for (boolean again = false; ; again = true) {
            try {
                return dialect.ask(worker, http);
            } catch (ConnectException | NotAskedException e) {
                throw e;
            } catch (IOException e) {
                if (again || e instanceof EngineAnswerException) {
                    open.add("what a " + dialect.kind() + " tells: " + e.getMessage());
                    return Optional.empty();
                }
            }
        }
    }

    /**
     * Where the engine has named its event sockets, and no operator has, their numbers are sure.
     */
    private static EngineRanks ranks(WorkerSpec spec, EngineFacts facts) {
        EngineRanks told = facts.ranks();
        int count = firstPositive(spec.dpSize(), told.count(), 1);
        boolean named = spec.eventsEndpoint() == null && !facts.events().isEmpty();
        return new EngineRanks(count, told.first(), !named || (count == 1 && told.first() == 0));
    }

    private static List<EventEndpoint> events(WorkerSpec spec, EngineFacts facts, int dpSize) {
        String configured = spec.eventsEndpoint();
        if (configured != null) {
            return EventEndpoint.perRank(
                    configured, spec.replayEndpoint(), spec.eventsBind(), spec.topic(), dpSize);
        }
        List<EventEndpoint> told = facts.events();
        if (told.size() == 1 && EventEndpoint.isPolled(told.getFirst().endpoint())) {
            return EventEndpoint.perRank(told.getFirst().endpoint(), null, false, "", dpSize);
        }
        return told.stream().filter(e -> e.dpRank() < dpSize).toList();
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
    public Health health(WorkerSpec spec, EngineKind kind) {
        return asked(
                () ->
                        healthPath.isPresent()
                                ? configured(spec, healthPath.get())
                                : asked(spec, kind).health(spec.url(), http, patience));
    }

    @Override
    public Health deepHealth(WorkerSpec spec, EngineKind kind) {
        return asked(
                () ->
                        healthPath.isPresent()
                                ? configured(spec, healthPath.get())
                                : asked(spec, kind).deepHealth(spec.url(), http, patience));
    }

    /** The operator's own path is the only question then, with the usual time-out. */
    private Health configured(WorkerSpec spec, String path) throws IOException {
        return HealthAnswers.read(path, http.get(spec.url(), path));
    }

    /** Who encodes media has not the paths of its kind that are asked of others. */
    private EngineDialect asked(WorkerSpec spec, EngineKind kind) {
        return spec.role() == Role.ENCODE ? UNKNOWN : dialect(kind);
    }

    private EngineDialect dialect(EngineKind kind) {
        for (EngineDialect dialect : dialects) {
            if (dialect.kind() == kind) {
                return dialect;
            }
        }
        return UNKNOWN;
    }

    private interface Question {
        Health ask() throws IOException;
    }

    private static Health asked(Question question) {
        try {
            return question.ask();
        } catch (NotAskedException e) {
            return new Health(Verdict.NOT_ASKED, String.valueOf(e.getMessage()));
        } catch (ConnectException e) {
            return new Health(Verdict.REFUSED, "connection refused");
        } catch (SocketTimeoutException e) {
            return new Health(Verdict.LATE, "its health check: " + e.getMessage());
        } catch (IOException e) {
            return new Health(Verdict.FAILING, "its health check: " + e.getMessage());
        }
    }
}
