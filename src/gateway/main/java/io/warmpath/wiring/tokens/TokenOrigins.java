package io.warmpath.wiring.tokens;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;

/**
 * Where the tokens of each model's prompts come from: files here, the files of its engine, else its
 * engines' answers, else nowhere, and its prompts are known by their text. Any thread.
 */
public final class TokenOrigins {
    private static final Logger LOG = Logger.getLogger(TokenOrigins.class);

    /** More models than this are not worth a line each. */
    private static final int MAX_SAID = 256;

    /** In the order of their worth. */
    public enum Origin {
        FILES("files"),
        ENGINES_FILES("engine's files"),
        ENGINE("engine"),
        TEXT("text prefix"),
        NONE("none");

        private final String word;

        Origin(String word) {
            this.word = word;
        }

        /** As it is shown. */
        public String word() {
            return word;
        }
    }

    private final Predicate<String> hasFiles;
    private final Map<String, Boolean> byModel;
    private final UnaryOperator<String> bases;
    private final boolean takesTexts;
    private final Consumer<Worker> settled;
    private final Set<String> fromEngines = ConcurrentHashMap.newKeySet();
    private final Set<String> said = ConcurrentHashMap.newKeySet();

    /**
     * @param hasFiles a model's files are in service
     * @param byModel whether engines are asked about a model's prompts, where that is configured;
     *     an adapter for which nothing is has what is said of its base
     * @param bases the model that an adapter belongs to; any other name itself
     * @param takesTexts decisions look at prompts, if need be at their texts
     * @param settled told of a worker once it is clear where its models' tokens come from
     */
    public TokenOrigins(
            Predicate<String> hasFiles,
            Map<String, Boolean> byModel,
            UnaryOperator<String> bases,
            boolean takesTexts,
            Consumer<Worker> settled) {
        this.hasFiles = hasFiles;
        this.byModel = Map.copyOf(byModel);
        this.bases = bases;
        this.takesTexts = takesTexts;
        this.settled = settled;
    }

    /** Its prompts are asked from engines as far as files here do not give their tokens. */
    public boolean asksEngines(String model) {
        Boolean own = byModel.get(model);
        Boolean configured = own != null ? own : byModel.get(bases.apply(model));
        return configured != null ? configured : takesTexts && !hasFiles.test(model);
    }

    /** {@code absent}: this worker has told that it has no tokenizer to ask. */
    Origin of(Worker worker, String model, boolean absent) {
        if (hasFiles.test(model)) {
            return fromEngines.contains(bases.apply(model)) ? Origin.ENGINES_FILES : Origin.FILES;
        }
        if (asksEngines(model) && !worker.kind().isPlain() && !absent) {
            return Origin.ENGINE;
        }
        return takesTexts ? Origin.TEXT : Origin.NONE;
    }

    /** As {@link #of} for all its models, by model. */
    public Map<String, String> words(Worker worker, boolean absent) {
        Map<String, String> words = new TreeMap<>();
        worker.models().forEach(model -> words.put(model, of(worker, model, absent).word()));
        return words;
    }

    /**
     * How many served models have their tokens from where.
     *
     * @param workers as they are now
     * @param absent a worker has told that it has no tokenizer to ask
     */
    public void bind(
            MeterRegistry registry, Supplier<List<Worker>> workers, Predicate<Worker> absent) {
        for (Origin origin : Origin.values()) {
            Gauge.builder("warmpath.models", () -> count(workers.get(), absent, origin))
                    .description("Models that workers serve, by where their tokens come from")
                    .tag("tokens", origin.name().toLowerCase(Locale.ROOT))
                    .strongReference(true)
                    .register(registry);
        }
    }

    /** Of several workers of a model, the one with the best counts. */
    private long count(List<Worker> workers, Predicate<Worker> absent, Origin origin) {
        Map<String, Origin> best = new HashMap<>();
        for (Worker worker : workers) {
            for (String model : worker.models()) {
                best.merge(
                        model,
                        of(worker, model, absent.test(worker)),
                        (a, b) -> a.compareTo(b) <= 0 ? a : b);
            }
        }
        return best.values().stream().filter(o -> o == origin).count();
    }

    /** The files in service for these models are their engine's. */
    void took(Set<String> models) {
        fromEngines.addAll(models);
    }

    /** It is clear now; tells once of each of its models but adapters, if it is ready. */
    void say(Worker worker) {
        settled.accept(worker);
        if (worker.state() != WorkerState.READY || !takesTexts) {
            return;
        }
        for (String model : worker.models()) {
            if (!bases.apply(model).equals(model) || said.size() >= MAX_SAID || !said.add(model)) {
                continue;
            }
            switch (of(worker, model, false)) {
                case ENGINES_FILES -> {} // whoever has taken them has said so
                case FILES -> LOG.infof("Model %s: tokens are made here, from its files", model);
                case ENGINE ->
                        LOG.infof(
                                "Model %s: no tokenizer here, its engines are asked for tokens (POST"
                                        + " /tokenize); --tokenizer %s=FILE saves the question",
                                model, model);
                case TEXT ->
                        LOG.infof(
                                "Model %s: no tokenizer here and none to ask, its prompts are known"
                                        + " by their texts; --tokenizer %s=FILE makes routing exact",
                                model, model);
                case NONE -> throw new IllegalStateException("texts are taken");
            }
        }
    }
}
