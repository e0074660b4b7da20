package io.warmpath.fleet;

import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The workers, their states and their slots in the prefix index.
 *
 * <p>{@link #snapshot}, {@link #status}, {@link #find} and {@link #reportFailure}: any thread, no
 * lock. Writers: any thread, serialised by one lock that is held while listeners run; never on an
 * event loop.
 *
 * <pre>
 * STARTING --learnt--> READY <--healthy / unhealthy--> UNHEALTHY
 *    READY, TRIAL <--full / room--> FULL
 *    READY --suspend--> SUSPENDED --tryOut--> TRIAL --recovered--> READY
 *    any that was learnt --paused--> PAUSED --healthy--> READY
 *    any --drain--> DRAINING --remove--> gone
 *    any --hold--> DRAINED --resume--> UNHEALTHY --healthy--> READY
 * </pre>
 */
public final class FleetRegistry implements Fleet {
    private static final int MAX_PROBLEMS = 20;

    private final WorkerSlots slots;
    private final ToLongFunction<String> idOfUrl;
    private final Consumer<WorkerSlot> slotOpened;
    private final List<FleetListener> listeners = new CopyOnWriteArrayList<>();
    private final LongAdder restarts = new LongAdder();

    // Guarded by this; readers go through the volatile copies below.
    private final Map<Long, WorkerStatus> byId = new LinkedHashMap<>();
    private final Map<Long, Worker> attached = new LinkedHashMap<>();
    private final Set<Long> failing = new HashSet<>();
    private int nextName;
    private long version;

    private volatile FleetSnapshot snapshot = FleetSnapshot.EMPTY;
    private volatile List<WorkerStatus> status = List.of();
    private volatile Map<Long, WorkerStatus> statusById = Map.of();
    private final Map<Long, FleetSnapshot.Standing> standings = new HashMap<>(); // guarded, too
    private volatile LongConsumer failureSink = id -> {};
    private volatile @Nullable PassiveHealth health;
    private volatile Openings openings = Openings.FREE;

    /**
     * @param idOfUrl identity of a worker whose id is not configured: XXH64 of its URL
     * @param slotOpened told of every slot before it is seen in a snapshot; slot numbers are used
     *     again, so whoever counts per slot starts anew here
     */
    public FleetRegistry(
            WorkerSlots slots, ToLongFunction<String> idOfUrl, Consumer<WorkerSlot> slotOpened) {
        this.slots = slots;
        this.slotOpened = slotOpened;
        this.idOfUrl = idOfUrl;
    }

    public void addListener(FleetListener listener) {
        listeners.add(listener);
    }

    /** Where {@link #reportFailure} goes; must not block. */
    public void onFailure(LongConsumer sink) {
        failureSink = sink;
    }

    @Override
    public FleetSnapshot snapshot() {
        return snapshot;
    }

    void onEnded(PassiveHealth sink) {
        health = sink;
    }

    /** Who limits what workers get from now on; before the first of them is ready. */
    public void openBy(Openings limits) {
        openings = limits;
    }

    @Override
    public double draw() {
        return openings.draw();
    }

    @Override
    public List<Candidate> open(String model, double draw) {
        return openings.of(snapshot, model, draw);
    }

    @Override
    public String whyNot(Worker worker) {
        return openings.whyNot(snapshot, worker);
    }

    @Override
    public void ended(long workerId, RequestOutcome outcome, long beganNanos) {
        PassiveHealth sink = health;
        if (sink != null) {
            sink.ended(workerId, outcome, beganNanos);
        }
    }

    @Override
    public void full(long workerId, Duration pause) {
        PassiveHealth sink = health;
        if (sink != null) {
            sink.full(workerId, pause);
        }
    }

    @Override
    public void firstToken(long workerId, long nanos, int computedTokens) {
        PassiveHealth sink = health;
        if (sink != null) {
            sink.firstToken(workerId, nanos, computedTokens);
        }
    }

    /** When a worker last answered a request well; {@code otherwise} when not since then. */
    public long lastAnswer(long workerId, long otherwise) {
        PassiveHealth sink = health;
        return sink == null ? otherwise : sink.lastAnswer(workerId, otherwise);
    }

    @Override
    public Map<String, String> problems() {
        Map<String, String> problems = new LinkedHashMap<>();
        for (WorkerStatus s : status) {
            if (!s.problem().isEmpty() && problems.size() < MAX_PROBLEMS) {
                String host = EngineAddress.of(s.worker().url()).host();
                problems.put(
                        s.worker().name(),
                        s.problem().contains(host) ? "see GET /workers" : s.problem());
            }
        }
        return problems;
    }

    /** All workers with details, in the order they were added. */
    public List<WorkerStatus> status() {
        return status;
    }

    @Override
    public void reportFailure(long workerId) {
        failureSink.accept(workerId);
    }

    /** By name, or by id in unsigned decimal. */
    public Optional<WorkerStatus> find(String nameOrId) {
        return status.stream()
                .filter(
                        s ->
                                s.worker().name().equals(nameOrId)
                                        || Long.toUnsignedString(s.worker().id()).equals(nameOrId))
                .findFirst();
    }

    /** Times a worker came back as a new process. */
    public long restarts() {
        return restarts.sum();
    }

    /**
     * Adds a worker in state STARTING, with the ranks its spec names.
     *
     * @throws DuplicateWorkerException when its URL, name or id is taken
     */
    public synchronized Worker add(WorkerSpec spec) {
        long id = spec.id().orElseGet(() -> idOfUrl.applyAsLong(spec.url().toString()));
        for (WorkerStatus other : byId.values()) {
            refuseDuplicate(spec, id, other.worker());
        }
        String name = spec.name() == null ? freeName() : spec.name();
        EngineKind kind = spec.kind() == null ? EngineKind.OPENAI : spec.kind();
        Worker worker =
                Worker.builder(id, name, spec.url())
                        .kind(kind)
                        .models(spec.models())
                        .blockSize(spec.blockSize())
                        .state(WorkerState.STARTING)
                        .ranks(open(id, spec, List.of(), Math.max(1, spec.dpSize())))
                        .taints(spec.taints())
                        .offload(Offload.NONE.with(spec.pool()))
                        .weight(spec.weightOrUsual())
                        .disaggregation(Disaggregation.NONE.or(spec, kind))
                        .place(Place.of(spec.labels()))
                        .build();
        byId.put(id, new WorkerStatus(worker, spec, List.of(), "not answered yet", List.of()));
        publish();
        listeners.forEach(l -> l.added(worker));
        return worker;
    }

    /**
     * Another record for a worker that stays the same one: taints, weight and place at once, the
     * rest with its next answer.
     *
     * @return false when there is no such worker, or the record makes it another one
     */
    public synchronized boolean update(long id, WorkerSpec spec) {
        WorkerStatus s = byId.get(id);
        if (s == null || !isOf(spec, s)) {
            return false;
        }
        if (s.spec().equals(spec)) {
            return true;
        }
        replace(s, s.worker().as(spec), spec, s.problem(), "its record has changed");
        return true;
    }

    private boolean isOf(WorkerSpec spec, WorkerStatus s) {
        long id = spec.id().orElseGet(() -> idOfUrl.applyAsLong(spec.url().toString()));
        return id == s.worker().id()
                && spec.url().equals(s.worker().url())
                && Objects.equals(spec.name(), s.spec().name())
                && domain(spec.kind()) == domain(s.spec().kind());
    }

    private static void refuseDuplicate(WorkerSpec spec, long id, Worker other) {
        if (other.url().equals(spec.url())) {
            throw new DuplicateWorkerException(
                    "worker " + other.name() + " already has the URL " + spec.url());
        }
        if (other.name().equals(spec.name())) {
            throw new DuplicateWorkerException("a worker named " + other.name() + " exists");
        }
        if (other.id() == id) {
            throw new DuplicateWorkerException(
                    "worker " + other.name() + " already has the id " + Long.toUnsignedString(id));
        }
    }

    private String freeName() {
        String name;
        do {
            name = "w" + nextName++;
        } while (find(name).isPresent());
        return name;
    }

    /**
     * The worker answered. The first answer makes it READY; with {@code restarted} its old slots
     * are given up for new ones, since a new process has an empty cache.
     */
    public synchronized void learnt(long id, WorkerProfile profile, boolean restarted) {
        WorkerStatus old = byId.get(id);
        if (old == null) {
            return; // removed while it was being asked
        }
        Worker before = old.worker();
        Worker had = attached.get(id);
        boolean encodes = profile.disaggregation().role() == Role.ENCODE;
        // What it has told was cut otherwise, came over other sockets, or is of no use any more.
        boolean recut =
                had != null
                        && (encodes
                                || before.blockSize() != profile.blockSize()
                                || before.ranks().size() != profile.dpSize()
                                || !old.events().equals(profile.events()));
        boolean fresh = had == null || restarted || recut;
        List<Worker.Rank> keep = restarted || recut ? List.of() : before.ranks();
        List<Worker.Rank> ranks = open(id, old.spec(), keep, profile.dpSize());
        boolean out = before.state().isTakenOut();
        Worker after =
                Worker.builder(id, before.name(), before.url())
                        .kind(profile.kind())
                        .served(profile.served())
                        .blockSize(profile.blockSize())
                        .state(out ? before.state() : WorkerState.READY)
                        .ranks(ranks)
                        .numbers(profile.ranks())
                        .capacity(profile.capacity())
                        .taints(old.spec().taints())
                        .version(profile.version())
                        .offload(profile.offload())
                        .priorities(profile.priorities())
                        .sessions(profile.sessions())
                        .disaggregation(profile.disaggregation())
                        .cache(profile.cache())
                        .weight(old.spec().weightOrUsual())
                        .place(Place.of(old.spec().labels()))
                        .build();
        byId.put(
                id,
                new WorkerStatus(
                        after,
                        old.spec(),
                        profile.events(),
                        out ? old.problem() : "",
                        profile.unused()));
        standings.remove(id);
        if (restarted) {
            ramp(id);
        }
        publish();
        if (restarted && had != null) {
            restarts.increment();
            listeners.forEach(l -> l.replaced(before));
        }
        if (fresh && had != null) {
            listeners.forEach(l -> l.detached(had));
        }
        closeUnused(before.ranks(), ranks);
        if (encodes) {
            attached.remove(id); // it caches nothing that a request could meet
        } else if (fresh) {
            attached.put(id, after);
            listeners.forEach(l -> l.attached(after, profile.events(), profile.noEvents()));
        }
        if (!profile.unused().isEmpty() && !profile.unused().equals(old.disagreements())) {
            listeners.forEach(l -> l.disagrees(after, profile.unused()));
        }
        fails(after, false);
        String why = restarted ? "came back as a new process" : "answered";
        listeners.forEach(l -> l.changed(before, after, why));
    }

    /** What a worker serves now, which has been learnt before. */
    public synchronized void serves(long id, ServedModels now) {
        WorkerStatus s = byId.get(id);
        if (s == null || !attached.containsKey(id) || s.worker().served().equals(now)) {
            return;
        }
        Worker after = s.worker().toBuilder().served(now).build();
        String why = "serves " + new TreeSet<>(now.names()) + " now";
        replace(s, after, s.spec(), s.problem(), why);
    }

    /** UNHEALTHY and PAUSED become READY, slowly; other states stay. */
    public synchronized void healthy(long id) {
        WorkerStatus s = byId.get(id);
        if (s == null) {
            return;
        }
        if (isOneOf(s, WorkerState.UNHEALTHY, WorkerState.PAUSED)) {
            ramp(id);
            move(s, WorkerState.READY, "", "healthy again");
        }
        fails(s.worker(), false);
    }

    /**
     * What gets requests becomes UNHEALTHY; a STARTING worker keeps its state and shows the
     * problem.
     */
    public void unhealthy(long id, String problem) {
        unhealthy(id, problem, false);
    }

    /** {@code gone}: nobody listens at its port. */
    public synchronized void unhealthy(long id, String problem, boolean gone) {
        WorkerStatus s = byId.get(id);
        if (s == null) {
            return;
        }
        FleetSnapshot.Standing before = standings.get(id);
        boolean sameGone = gone == (before != null && before.gone());
        if (gone) {
            standings.put(id, new FleetSnapshot.Standing(false, 0, true));
        } else {
            standings.remove(id);
        }
        if (isOneOf(
                s,
                WorkerState.READY,
                WorkerState.FULL,
                WorkerState.SUSPENDED,
                WorkerState.TRIAL,
                WorkerState.PAUSED)) {
            move(s, WorkerState.UNHEALTHY, problem, problem);
        } else if (!s.problem().equals(problem) || !sameGone) {
            Worker worker = s.worker();
            String shown = worker.state().isTakenOut() ? s.problem() : problem;
            byId.put(id, new WorkerStatus(worker, s.spec(), s.events(), shown, s.disagreements()));
            publish();
            if (!shown.equals(s.problem())) {
                listeners.forEach(l -> l.troubled(worker, shown));
            }
        }
        fails(s.worker(), true);
    }

    /** Says itself that it takes nothing new. */
    public synchronized void paused(long id, String why) {
        WorkerStatus s = byId.get(id);
        if (s != null
                && isOneOf(
                        s,
                        WorkerState.READY,
                        WorkerState.FULL,
                        WorkerState.SUSPENDED,
                        WorkerState.TRIAL,
                        WorkerState.UNHEALTHY)) {
            standings.remove(id);
            move(s, WorkerState.PAUSED, why, why);
            fails(s.worker(), false);
        }
    }

    private void fails(Worker worker, boolean now) {
        if (now ? failing.add(worker.id()) : failing.remove(worker.id())) {
            listeners.forEach(l -> l.failing(worker, now));
        }
    }

    /** READY, FULL and TRIAL become SUSPENDED; other states stay. */
    synchronized void suspend(long id, String why) {
        WorkerStatus s = byId.get(id);
        if (s != null && isOneOf(s, WorkerState.READY, WorkerState.FULL, WorkerState.TRIAL)) {
            standings.remove(id);
            move(s, WorkerState.SUSPENDED, why, why);
        }
    }

    /** SUSPENDED becomes TRIAL; other states stay. */
    synchronized void tryOut(long id) {
        WorkerStatus s = byId.get(id);
        if (s != null && s.worker().state() == WorkerState.SUSPENDED) {
            move(s, WorkerState.TRIAL, s.problem(), "its pause is over");
        }
    }

    /** TRIAL becomes READY, slowly; other states stay. */
    synchronized void recovered(long id) {
        WorkerStatus s = byId.get(id);
        if (s != null && s.worker().state() == WorkerState.TRIAL) {
            ramp(id);
            move(s, WorkerState.READY, "", "its trial went well");
        }
    }

    /**
     * READY and TRIAL become FULL; other states stay. No listener is told: it comes and goes by the
     * second, and nothing but the choice of a worker depends on it.
     */
    synchronized void full(long id, String why) {
        WorkerStatus s = byId.get(id);
        if (s != null && isOneOf(s, WorkerState.READY, WorkerState.TRIAL)) {
            quietly(s, WorkerState.FULL, why);
        }
    }

    /** FULL becomes READY, or goes on with its trial; other states stay. */
    synchronized void room(long id, boolean onTrial) {
        WorkerStatus s = byId.get(id);
        if (s != null && s.worker().state() == WorkerState.FULL) {
            quietly(s, onTrial ? WorkerState.TRIAL : WorkerState.READY, "");
        }
    }

    private void quietly(WorkerStatus s, WorkerState to, String problem) {
        Worker now = s.worker().with(to);
        byId.put(now.id(), new WorkerStatus(now, s.spec(), s.events(), problem, s.disagreements()));
        publish();
    }

    private static boolean isOneOf(WorkerStatus s, WorkerState... states) {
        return List.of(states).contains(s.worker().state());
    }

    private void ramp(long id) {
        standings.put(id, new FleetSnapshot.Standing(true, openings.now(), false));
    }

    /** A worker that came back gets its full share by now; false when nobody does. */
    public synchronized boolean endRamps(long slowStartNanos) {
        long now = openings.now();
        boolean any =
                standings
                        .values()
                        .removeIf(s -> s.ramps() && now - s.rampFromNanos() >= slowStartNanos);
        if (any) {
            publish();
        }
        return standings.values().stream().anyMatch(FleetSnapshot.Standing::ramps);
    }

    /** Gets nothing new from now on. False when there is no such worker. */
    public boolean drain(long id) {
        return drain(id, "draining");
    }

    public synchronized boolean drain(long id, String why) {
        WorkerStatus s = byId.get(id);
        if (s == null) {
            return false;
        }
        if (s.worker().state() != WorkerState.DRAINING) {
            move(s, WorkerState.DRAINING, why, why);
        }
        return true;
    }

    /**
     * Gets nothing new from now on and stays, whatever it answers, until {@link #resume}.
     *
     * @return false when there is no such worker
     */
    public synchronized boolean hold(long id, String why) {
        WorkerStatus s = byId.get(id);
        if (s == null) {
            return false;
        }
        if (s.worker().state() != WorkerState.DRAINED || !s.problem().equals(why)) {
            move(s, WorkerState.DRAINED, why, why);
        }
        return true;
    }

    /**
     * A worker that was taken out is wanted again. It is asked for its health at once, and gets
     * requests when it has answered.
     *
     * @return false when there is no such worker any more
     */
    public synchronized boolean resume(long id) {
        WorkerStatus s = byId.get(id);
        if (s == null) {
            return false;
        }
        if (s.worker().state().isTakenOut()) {
            boolean known = attached.containsKey(id);
            move(
                    s,
                    known ? WorkerState.UNHEALTHY : WorkerState.STARTING,
                    "no longer draining, not answered yet",
                    "no longer draining");
            reportFailure(id);
        }
        return true;
    }

    /** {@link #remove}, unless it has been resumed meanwhile. */
    public synchronized void removeDrained(long id) {
        WorkerStatus s = byId.get(id);
        if (s != null && s.worker().state() == WorkerState.DRAINING) {
            remove(id);
        }
    }

    /** {@link #remove}, as another one has its address now. */
    public synchronized void removeReplaced(long id) {
        WorkerStatus s = byId.get(id);
        if (s != null) {
            listeners.forEach(l -> l.replaced(s.worker()));
            remove(id);
        }
    }

    /** Forgets the worker and its cached blocks. Harmless when it is gone already. */
    public synchronized void remove(long id) {
        WorkerStatus s = byId.remove(id);
        if (s == null) {
            return;
        }
        standings.remove(id);
        failing.remove(id);
        publish();
        Worker had = attached.remove(id);
        if (had != null) {
            listeners.forEach(l -> l.detached(had));
        }
        closeUnused(s.worker().ranks(), List.of());
        listeners.forEach(l -> l.removed(s.worker()));
    }

    private void move(WorkerStatus s, WorkerState to, String problem, String why) {
        replace(s, s.worker().with(to), s.spec(), problem, why);
    }

    /** The same incarnation, with something else known of it. */
    private void replace(
            WorkerStatus s, Worker after, WorkerSpec spec, String problem, String why) {
        Worker before = s.worker();
        byId.put(
                before.id(), new WorkerStatus(after, spec, s.events(), problem, s.disagreements()));
        publish();
        listeners.forEach(l -> l.changed(before, after, why));
    }

    /** {@code size} ranks, taking those of {@code keep} first; all or nothing. */
    private List<Worker.Rank> open(long id, WorkerSpec spec, List<Worker.Rank> keep, int size) {
        List<Worker.Rank> ranks = new ArrayList<>(keep.subList(0, Math.min(keep.size(), size)));
        int kept = ranks.size();
        try {
            while (ranks.size() < size) {
                int rank = ranks.size();
                WorkerSlot slot = slots.open(domain(spec.kind()), id, rank);
                ranks.add(new Worker.Rank(rank, slot));
                slotOpened.accept(slot);
            }
        } catch (RuntimeException e) {
            ranks.subList(kept, ranks.size()).forEach(r -> slots.close(r.slot()));
            throw e;
        }
        return ranks;
    }

    /**
     * Engines of one kind may give a block the same hash. By the configured kind, which a restart
     * does not change: workers whose kind is found out share a domain, too, which is no harm.
     */
    private static int domain(@Nullable EngineKind kind) {
        return switch (kind) {
            case SGLANG -> 1;
            case VLLM -> 2;
            case TRTLLM -> 3;
            case OPENAI -> 0;
            case null -> 0;
        };
    }

    private void closeUnused(List<Worker.Rank> before, List<Worker.Rank> after) {
        List<WorkerSlot> used = after.stream().map(Worker.Rank::slot).toList();
        before.stream().map(Worker.Rank::slot).filter(s -> !used.contains(s)).forEach(slots::close);
    }

    private void publish() {
        version++;
        status = List.copyOf(byId.values());
        statusById = Map.copyOf(byId);
        snapshot =
                new FleetSnapshot(
                        version,
                        status.stream().map(WorkerStatus::worker).toList(),
                        standings,
                        openings.panicShare());
    }

    public @Nullable Long idAt(URI url) {
        for (WorkerStatus s : status) {
            if (s.worker().url().equals(url)) {
                return s.worker().id();
            }
        }
        return null;
    }

    public @Nullable WorkerStatus byId(long id) {
        return statusById.get(id);
    }
}
