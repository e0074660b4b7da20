package io.warmpath.tokens.model;

import io.warmpath.tokens.model.ReloadedModel.Outcome;
import io.warmpath.tokens.text.SegmentCache;
import io.warmpath.tokens.text.TokensCounters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Which model name gets which loaded tokenizer. What stands behind a name may be exchanged or
 * missing; names without any may get one later. {@link #enter}: any thread, no lock. Loading and
 * closing: any thread, one at a time.
 */
public final class ModelShelf {
    private static final Logger LOG = Logger.getLogger(ModelShelf.class);

    private final Map<String, ModelSlot> byName = new ConcurrentHashMap<>();
    private final @Nullable ModelSlot fallback;

    /** Replaced as a whole. */
    private volatile Map<ModelSource, ModelSlot> slots;

    private final ModelSources sources;
    private final ModelLoader loader;
    private final long cacheBytes;
    private final long cacheShare;
    private final TokensCounters counters;
    private final UnaryOperator<String> bases;
    private final LongAdder formerEvictions = new LongAdder();
    private volatile boolean closed;

    /**
     * @param bases the model whose tokens a name without files of its own has; any other name gives
     *     itself
     */
    public ModelShelf(
            ModelSources sources,
            ModelLoader loader,
            long cacheBytes,
            TokensCounters counters,
            UnaryOperator<String> bases) {
        this.bases = bases;
        this.sources = sources;
        this.loader = loader;
        this.counters = counters;
        this.cacheBytes = cacheBytes;
        Map<ModelSource, ModelSlot> named = new LinkedHashMap<>();
        for (ModelSource source : sources.distinct()) {
            named.put(source, new ModelSlot(source));
        }
        this.slots = named;
        this.cacheShare = cacheBytes / Math.max(1, slots.size());
        sources.byModel().forEach((name, source) -> byName.put(name, slot(source)));
        ModelSource others = sources.fallback();
        this.fallback = others == null ? null : slot(others);
    }

    private ModelSlot slot(ModelSource source) {
        ModelSlot slot = slots.get(source);
        if (slot == null) {
            throw new IllegalStateException(source + " has no place");
        }
        return slot;
    }

    /** What is in service now, with other counters and caches. */
    public ModelShelf copy(long cacheBytes, TokensCounters others) {
        ModelShelf copy = new ModelShelf(sources, loader, cacheBytes, others, bases);
        Map<ModelSource, ModelSlot> now = slots;
        Map<ModelSource, ModelSlot> all = new LinkedHashMap<>(copy.slots);
        now.forEach(
                (source, slot) -> {
                    ModelSlot same = all.computeIfAbsent(source, ModelSlot::new);
                    ServedModel model = slot.model;
                    if (model != null) {
                        same.model = model.copy(cacheBytes / Math.max(1, now.size()), others);
                    }
                });
        copy.slots = all;
        byName.forEach(
                (name, slot) -> {
                    ModelSlot same = all.get(slot.source);
                    if (same != null) { // else it was offered in this moment
                        copy.byName.put(name, same);
                    }
                });
        return copy;
    }

    /**
     * The model in service, entered; null when there is none. A model that was named has its own
     * tokenizer or none: with the fallback's it would get wrong ids.
     */
    public @Nullable ServedModel enter(String name) {
        ModelSlot slot = find(name);
        if (slot == null) {
            return null;
        }
        ServedModel model = slot.model;
        while (model != null && !closed) {
            if (model.enter()) {
                return model;
            }
            ServedModel newer = slot.model; // it was exchanged just now
            model = newer == model ? null : newer;
        }
        return null;
    }

    /**
     * Puts files into service for names that have none. One at a time.
     *
     * @param check says what is wrong with them, empty when nothing is; not under the lock
     * @return what is wrong; empty when they are in service
     */
    public String offer(
            Set<String> names, ModelSource source, Function<ServedModel, String> check) {
        FileStamp stamp = FileStamp.of(source); // before loading: what changes meanwhile is new
        ParallelLoad.Result result =
                Objects.requireNonNull(ParallelLoad.all(List.of(source), loader).get(source));
        if (result.model() == null) {
            return result.problem();
        }
        ServedModel model =
                new ServedModel(result.model(), cacheBytes / (slots.size() + 1), counters);
        String problem = check.apply(model);
        synchronized (this) {
            if (!problem.isEmpty() || closed || slots.containsKey(source)) {
                model.retire();
                return problem.isEmpty() ? "they are in service for other models" : problem;
            }
            result.model().warnings().forEach(LOG::warn);
            ModelSlot slot = new ModelSlot(source);
            slot.tried = stamp;
            slot.seen = stamp;
            slot.model = model;
            Map<ModelSource, ModelSlot> more = new LinkedHashMap<>(slots);
            more.put(source, slot);
            slots = more;
            names.forEach(name -> byName.putIfAbsent(name, slot));
            return "";
        }
    }

    private @Nullable ModelSlot find(String name) {
        ModelSlot named = byName.get(name);
        return named != null ? named : byName.getOrDefault(bases.apply(name), fallback);
    }

    /** Some files are in service for this name. */
    public boolean has(String name) {
        ModelSlot slot = find(name);
        return slot != null && slot.model != null;
    }

    /** Some files are set up for this name. */
    public boolean knows(String name) {
        return find(name) != null;
    }

    public Optional<String> anyModel() {
        Optional<String> named =
                byName.keySet().stream()
                        .filter(name -> slot(name).model != null)
                        .sorted()
                        .findFirst();
        return named.isPresent() || fallback == null || fallback.model == null
                ? named
                : Optional.of("any");
    }

    private ModelSlot slot(String name) {
        ModelSlot slot = byName.get(name);
        if (slot == null) {
            throw new IllegalStateException(name + " has no place");
        }
        return slot;
    }

    public void load() {
        load(slot -> true);
    }

    public List<ReloadedModel> reload() {
        return load(slot -> !slot.problem.isEmpty() || !slot.seen.equals(slot.tried));
    }

    public void reloadChanged() {
        Map<ModelSlot, FileStamp> before = new HashMap<>();
        synchronized (this) {
            slots.values().forEach(slot -> before.put(slot, slot.seen));
        }
        load(slot -> !slot.seen.equals(slot.tried) && slot.seen.equals(before.get(slot)));
    }

    /** {@code due}: whether to load it, once {@link ModelSlot#seen} is new. */
    private synchronized List<ReloadedModel> load(Predicate<ModelSlot> due) {
        if (closed) {
            return List.of();
        }
        List<ModelSlot> wanted = new ArrayList<>();
        for (ModelSlot slot : slots.values()) {
            slot.seen = FileStamp.of(slot.source);
            if (due.test(slot)) {
                slot.tried = slot.seen; // before loading: what changes meanwhile is loaded again
                wanted.add(slot);
            }
        }
        Map<ModelSource, ParallelLoad.Result> loaded =
                ParallelLoad.all(wanted.stream().map(slot -> slot.source).toList(), loader);
        List<ReloadedModel> all = new ArrayList<>();
        for (ModelSlot slot : slots.values()) {
            ParallelLoad.Result result = loaded.get(slot.source);
            Outcome outcome = result == null ? unchanged(slot) : exchange(slot, result);
            all.add(new ReloadedModel(names(slot), slot.source.toString(), outcome, slot.problem));
        }
        return all;
    }

    private static Outcome unchanged(ModelSlot slot) {
        if (slot.model == null) {
            return Outcome.WITHOUT_TOKENS;
        }
        return slot.problem.isEmpty() ? Outcome.UNCHANGED : Outcome.KEPT;
    }

    private Outcome exchange(ModelSlot slot, ParallelLoad.Result result) {
        ServedModel before = slot.model;
        slot.problem = result.problem();
        if (result.model() == null) {
            LOG.errorf(
                    "Model %s: %s. %s",
                    String.join(", ", names(slot)),
                    result.problem(),
                    before == null
                            ? "It has no tokens here; mend the files and POST /models/reload"
                            : "The files that were loaded before stay in service");
            return before == null ? Outcome.WITHOUT_TOKENS : Outcome.KEPT;
        }
        result.model().warnings().forEach(LOG::warn);
        slot.model = new ServedModel(result.model(), cacheShare, counters);
        if (before != null) {
            LOG.infof("Model %s: new files are in service", String.join(", ", names(slot)));
            if (before.cache != null) {
                formerEvictions.add(before.cache.evictions());
            }
            before.retire();
        }
        return Outcome.LOADED;
    }

    private List<String> names(ModelSlot slot) {
        TreeSet<String> names = new TreeSet<>();
        byName.forEach(
                (name, of) -> {
                    if (of == slot) {
                        names.add(name);
                    }
                });
        if (slot == fallback) {
            names.add("*");
        }
        return List.copyOf(names);
    }

    public long sumOfCaches(ToLongFunction<SegmentCache> value) {
        long sum = 0;
        for (ModelSlot slot : slots.values()) {
            ServedModel model = slot.model;
            sum += model == null || model.cache == null ? 0 : value.applyAsLong(model.cache);
        }
        return sum;
    }

    /** Of caches that are no longer in service. */
    public long formerEvictions() {
        return formerEvictions.sum();
    }

    public boolean isClosed() {
        return closed;
    }

    /** Frees every tokenizer as soon as nobody uses it. */
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<RuntimeException> failures = new ArrayList<>();
        for (ModelSlot slot : slots.values()) {
            ServedModel model = slot.model;
            try {
                if (model != null) {
                    model.retire();
                }
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.removeFirst();
            failures.forEach(first::addSuppressed);
            throw first;
        }
    }
}
