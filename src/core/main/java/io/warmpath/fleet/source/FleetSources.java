package io.warmpath.fleet.source;

import io.warmpath.fleet.DuplicateWorkerException;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What several sources say of workers, as one fleet.
 *
 * <p>A worker is its URL. It is there as long as any source names it; each field of its record is
 * that of the strongest source which says something about it ({@link SourceName}). One source that
 * drains or holds it is enough. An operator's {@link #withdraw} holds against all sources until the
 * operator adds it again, or until no source names it any more; so does {@link #drain}, after which
 * the worker stays, until {@link #resume}.
 *
 * <p>Any thread but an event loop; one lock, held while the registry's listeners run. {@link
 * #sources} and {@link #problems}: any thread, no lock.
 */
public final class FleetSources {
    private final FleetRegistry registry;
    private final Consumer<String> log;

    // Guarded by this.
    private final Map<URI, Entry> entries = new LinkedHashMap<>();
    private final Map<SourceName, Map<String, URI>> urls = new EnumMap<>(SourceName.class);

    private volatile Map<URI, List<SourceName>> sources = Map.of();
    private volatile Map<URI, String> problems = Map.of();

    /** {@code log}: a warning, told once per problem. */
    public FleetSources(FleetRegistry registry, Consumer<String> log) {
        this.registry = registry;
        this.log = log;
    }

    /** Where this source tells. */
    public FleetSource.Feed feed(SourceName source) {
        return new Feed(source);
    }

    /** Who names this worker, the strongest first; empty when nobody does. */
    public List<SourceName> sources(URI url) {
        return sources.getOrDefault(url, List.of());
    }

    /** What could not be taken, by the URL of the worker that is left out. */
    public Map<URI, String> problems() {
        return problems;
    }

    /**
     * An operator adds a worker.
     *
     * @throws DuplicateWorkerException when its URL, name or id is taken
     */
    public synchronized Worker add(WorkerSpec spec) {
        Entry known = entries.get(spec.url());
        boolean comesBack = known != null && known.withdrawn;
        Long there = registry.idAt(spec.url());
        WorkerStatus other = there == null ? null : registry.byId(there);
        if (other != null && other.worker().state() != WorkerState.DRAINING) {
            throw new DuplicateWorkerException(
                    "worker %s already has the URL %s; PATCH /workers/%s changes it"
                            .formatted(other.worker().name(), spec.url(), other.worker().name()));
        }
        Entry e = known == null ? new Entry(spec.url()) : known;
        e.withdrawn = false;
        WorkerSpec before = e.records.put(SourceName.API, spec);
        entries.put(spec.url(), e);
        try {
            reconcile(e);
        } catch (DuplicateWorkerException refused) {
            e.withdrawn = comesBack;
            restore(e, before);
            throw refused;
        }
        publish();
        return worker(e);
    }

    /**
     * An operator says more of a worker that is there: before what was said earlier, and before all
     * other sources.
     *
     * @throws DuplicateWorkerException when its name or id is another worker's
     */
    public synchronized Worker change(WorkerSpec more) {
        Entry e = entries.get(more.url());
        if (e == null || e.withdrawn) {
            throw new DuplicateWorkerException("the worker " + more.url() + " is leaving");
        }
        WorkerSpec before = e.records.get(SourceName.API);
        e.records.put(SourceName.API, before == null ? more : more.or(before));
        try {
            reconcile(e);
        } catch (DuplicateWorkerException refused) {
            restore(e, before);
            reconcile(e);
            throw refused;
        }
        publish();
        return worker(e);
    }

    /** An operator takes a worker out: drained, then forgotten, whoever names it. */
    public synchronized void withdraw(URI url) {
        Entry e = entries.get(url);
        if (e == null) {
            Long id = registry.idAt(url);
            if (id != null) {
                registry.drain(id, "taken out by an operator");
            }
            return;
        }
        e.records.remove(SourceName.API);
        e.withdrawn = true;
        e.held = null;
        settle(e);
        publish();
    }

    /**
     * An operator lets a worker finish what it has and get nothing new. It stays, whatever its
     * sources and its engine say, until it is resumed, taken out, or named by nobody any more.
     *
     * @param why empty: not said
     */
    public synchronized void drain(URI url, String why) {
        Entry e = entries.get(url);
        if (e != null && !e.withdrawn) { // what leaves gets nothing new anyway
            e.held = "drained by an operator" + (why.isEmpty() ? "" : ": " + why);
            settle(e);
            publish();
        }
    }

    /**
     * Ends {@link #drain}.
     *
     * @throws IllegalStateException when it is leaving, for another reason than that
     */
    public synchronized void resume(URI url) {
        Entry e = entries.get(url);
        if (e == null || e.withdrawn || !e.drains.isEmpty()) {
            throw new IllegalStateException("it is being removed");
        }
        String source = e.held == null ? first(e.holds) : null;
        if (source != null) {
            throw new IllegalStateException("it is held: " + source);
        }
        e.held = null;
        settle(e);
        publish();
    }

    /** Tries again what could not be taken: a name may be free now. */
    public synchronized void retryRefused() {
        retry();
        publish();
    }

    private void retry() {
        for (Entry e : new ArrayList<>(entries.values())) {
            if (!e.problem.isEmpty()) {
                settle(e);
            }
        }
    }

    private void restore(Entry e, @Nullable WorkerSpec before) {
        if (before == null) {
            e.records.remove(SourceName.API);
        } else {
            e.records.put(SourceName.API, before);
        }
        if (e.records.isEmpty()) {
            entries.remove(e.url);
        }
    }

    private Worker worker(Entry e) {
        WorkerStatus s = e.id == null ? null : registry.byId(e.id);
        if (s == null) {
            throw new IllegalStateException("the worker " + e.url + " is draining");
        }
        return s.worker();
    }

    private static String words(Entry e) {
        return String.join(", ", e.records.keySet().stream().map(SourceName::word).toList());
    }

    /** Makes the registry agree with what is said; what it cannot take is left out. */
    private void settle(Entry e) {
        String problem = "";
        try {
            reconcile(e);
        } catch (DuplicateWorkerException refused) {
            problem = String.valueOf(refused.getMessage());
            if (!problem.equals(e.problem)) {
                log.accept(
                        "The worker %s (told by %s) is left out: %s"
                                .formatted(e.url, words(e), problem));
            }
        } finally {
            e.problem = problem;
        }
    }

    /** Throws {@link DuplicateWorkerException} when its name or id is another worker's. */
    private void reconcile(Entry e) {
        WorkerSpec merged = merged(e);
        if (merged == null) {
            leave(e, "no source names it any more");
            entries.remove(e.url);
            return;
        }
        if (e.withdrawn) {
            leave(e, "taken out by an operator");
            return;
        }
        String drains = first(e.drains);
        if (drains != null) {
            leave(e, drains);
            return;
        }
        Long id = e.id == null ? registry.idAt(e.url) : e.id; // it may be leaving still
        if (id != null && registry.update(id, merged)) {
            e.id = id;
            if (stand(e, id)) {
                return;
            }
        } else if (id != null) {
            registry.removeReplaced(id); // it is another one now
        }
        e.id = null;
        e.id = registry.add(merged).id();
        stand(e, e.id);
    }

    /** False when the worker has left meanwhile. */
    private boolean stand(Entry e, long id) {
        String held = e.held == null ? first(e.holds) : e.held;
        return held == null ? registry.resume(id) : registry.hold(id, held);
    }

    /** What the strongest of them says, and who it is. */
    private static @Nullable String first(Map<SourceName, String> said) {
        return said.entrySet().stream()
                .findFirst()
                .map(e -> e.getKey().word() + ": " + e.getValue())
                .orElse(null);
    }

    private void leave(Entry e, String why) {
        Long id = e.id;
        if (id != null) {
            registry.drain(id, why);
        }
    }

    private static @Nullable WorkerSpec merged(Entry e) {
        WorkerSpec merged = null;
        for (WorkerSpec spec : e.records.values()) {
            merged = merged == null ? spec : merged.or(spec);
        }
        return merged;
    }

    private void publish() {
        Map<URI, List<SourceName>> names = new HashMap<>();
        Map<URI, String> wrong = new TreeMap<>();
        for (Entry e : entries.values()) {
            names.put(e.url, List.copyOf(e.records.keySet()));
            if (!e.problem.isEmpty()) {
                wrong.put(e.url, e.problem);
            }
        }
        sources = Map.copyOf(names);
        problems = Map.copyOf(wrong);
    }

    /** All that is said of one URL. */
    private static final class Entry {
        final URI url;
        final Map<SourceName, WorkerSpec> records = new EnumMap<>(SourceName.class);
        final Map<SourceName, String> drains = new EnumMap<>(SourceName.class);
        final Map<SourceName, String> holds = new EnumMap<>(SourceName.class);
        boolean withdrawn;
        @Nullable String held; // why an operator drained it
        @Nullable Long id; // in the registry, once it was there
        String problem = "";

        Entry(URI url) {
            this.url = url;
        }
    }

    /** One source's way in. */
    private final class Feed implements FleetSource.Feed {
        private final SourceName source;

        Feed(SourceName source) {
            this.source = source;
        }

        private Map<String, URI> mine() {
            return urls.computeIfAbsent(source, s -> new HashMap<>());
        }

        @Override
        public void put(String key, WorkerSpec spec) {
            synchronized (FleetSources.this) {
                take(key, spec);
                retry();
                publish();
            }
        }

        private void take(String key, WorkerSpec spec) {
            URI before = mine().put(key, spec.url());
            if (before != null && !before.equals(spec.url())) {
                forget(before);
            }
            if (before == null && source.tellsLives() && !entries.containsKey(spec.url())) {
                endOfLife(spec.url());
            }
            Entry e = entries.computeIfAbsent(spec.url(), Entry::new);
            e.records.put(source, spec);
            e.drains.remove(source);
            e.holds.remove(source);
            settle(e);
        }

        /** What may still leave there is another process, which has the address no more. */
        private void endOfLife(URI url) {
            Long there = registry.idAt(url);
            if (there != null) {
                registry.removeReplaced(there);
            }
        }

        @Override
        public void drain(String key, String why) {
            say(key, e -> e.drains.put(source, why));
        }

        @Override
        public void hold(String key, String why) {
            say(
                    key,
                    e -> {
                        e.drains.remove(source);
                        e.holds.put(source, why);
                    });
        }

        private void say(String key, Consumer<Entry> what) {
            synchronized (FleetSources.this) {
                URI url = mine().get(key);
                Entry e = url == null ? null : entries.get(url);
                if (e != null) {
                    what.accept(e);
                    settle(e);
                    publish();
                }
            }
        }

        @Override
        public void remove(String key) {
            synchronized (FleetSources.this) {
                URI url = mine().remove(key);
                if (url != null) {
                    forget(url);
                    retry();
                    publish();
                }
            }
        }

        @Override
        public void replace(Map<String, WorkerSpec> all) {
            synchronized (FleetSources.this) {
                Set<String> gone = new LinkedHashSet<>(mine().keySet());
                gone.removeAll(all.keySet());
                for (String key : gone) {
                    URI url = mine().remove(key);
                    if (url != null) {
                        forget(url);
                    }
                }
                all.forEach(this::take);
                retry();
                publish();
            }
        }

        /** Unless another key of this source names the same worker. */
        private void forget(URI url) {
            Entry e = entries.get(url);
            if (e != null && !mine().containsValue(url)) {
                e.records.remove(source);
                e.drains.remove(source);
                e.holds.remove(source);
                settle(e);
            }
        }
    }
}
