package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.SourceName;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Tells the fleet of the engines behind a namespace's Services, or of those of one InferencePool:
 * those that serve are workers, those that are being deleted drain, and those that are not ready
 * are held, with their caches, as long as their pods are there. Nothing is told before all kinds of
 * objects were listed once. What is told is the difference to what was told before, by one thread.
 * A worker whose annotations become wrong stays as it was; the problem is logged once and counted.
 */
public final class KubernetesSource implements FleetSource {
    private static final Logger LOG = Logger.getLogger(KubernetesSource.class);

    /** Objects come by several watches: for a moment one may know more than the other. */
    private static final Duration SETTLE = Duration.ofSeconds(5);

    private final KubernetesOptions options;
    private final ApiServer api;
    private final Reflector.Setup setup;
    private final ClusterView view;
    private final @Nullable PoolView pool;
    private final @Nullable PoolObjects<Integer> objectives;
    private final @Nullable InferenceModelRewrites rewrites;
    private final Semaphore work = new Semaphore(0);
    private final Duration settle;

    private volatile Map<String, String> problems = Map.of();
    private volatile boolean closed;
    private @Nullable Thread thread;

    // Only touched by the thread.
    private final Map<String, WorkerSpec> published = new HashMap<>();
    private final Map<String, String> away = new HashMap<>(); // why they get nothing new
    private final Map<String, Long> doubts = new HashMap<>();

    public KubernetesSource(KubernetesOptions options, RandomGenerator random) {
        this(options, Reflector.Timing.USUAL, SETTLE, random);
    }

    KubernetesSource(
            KubernetesOptions options,
            Reflector.Timing timing,
            Duration settle,
            RandomGenerator random) {
        this.options = options;
        this.settle = settle;
        api = new ApiServer(options);
        setup = new Reflector.Setup(api, options.resync(), timing, random);
        String named = options.inferencePool();
        if (named == null) {
            pool = null;
            objectives = null;
            rewrites = null;
            view = new Services(options, setup, work::release);
        } else {
            pool = new PoolView(named, options.namespace(), setup, work::release);
            objectives =
                    new PoolObjects<>(
                            "inferenceobjectives",
                            named,
                            options.namespace(),
                            setup,
                            KubernetesSource::priorityOf,
                            () -> {});
            rewrites = new InferenceModelRewrites(named, options.namespace(), setup);
            view = pool;
        }
    }

    @Override
    public SourceName name() {
        return SourceName.KUBERNETES;
    }

    @Override
    public void start(Feed to) {
        LOG.infof(
                "Workers come from namespace %s at %s: %s",
                options.namespace(), options.apiServer(), view.what());
        thread = Thread.ofVirtual().name("warmpath-kubernetes").start(() -> run(to));
        view.start();
        if (objectives != null) {
            objectives.start();
        }
        if (rewrites != null) {
            rewrites.start();
        }
    }

    /** The API server answered the last questions. */
    @Override
    public boolean connected() {
        return view.connected();
    }

    /** Lists of all objects of a kind: one at the start, one for each resync or lost watch. */
    public long lists() {
        return setup.lists().sum();
    }

    /** Questions to the API server that failed. */
    public long failures() {
        return setup.failures().sum();
    }

    /** What could not be taken as a worker, or not in all that is said of it, and why, by pod. */
    public Map<String, String> problems() {
        return problems;
    }

    /**
     * Why no endpoint of the InferencePool serves: it has not been looked up yet, is not there, or
     * none of its pods is ready. Empty: one serves, or no pool was asked for.
     */
    public String lacking() {
        return pool == null ? "" : pool.lacking();
    }

    /** Endpoints of the InferencePool that serve. */
    public int serving() {
        return pool == null ? 0 : pool.serving();
    }

    /**
     * The priority that an InferenceObjective of the pool gives to requests that name it.
     *
     * @return more important when higher; null: there is no such objective
     */
    public @Nullable Integer priority(String objective) {
        return objectives == null ? null : objectives.find(objective);
    }

    /** 0 where the object says none. */
    private static int priorityOf(JsonNode objective) {
        long priority = objective.path("spec").path("priority").asLong();
        return Math.clamp(priority, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** InferenceObjectives of the pool. */
    public int objectives() {
        return objectives == null ? 0 : objectives.size();
    }

    /**
     * What an InferenceModelRewrite of the pool makes of a model's name.
     *
     * @param share from 0 to below 1: where in the shares of its targets
     * @return null: there is none for this model
     */
    public @Nullable String rewritten(String model, double share) {
        return rewrites == null ? null : rewrites.target(model, share);
    }

    /** InferenceModelRewrites of the pool. */
    public int rewrites() {
        return rewrites == null ? 0 : rewrites.size();
    }

    private void run(Feed feed) {
        while (!closed) {
            try {
                if (doubts.isEmpty()) {
                    work.acquire();
                } else {
                    boolean changed = work.tryAcquire(settle.toMillis(), TimeUnit.MILLISECONDS);
                    LOG.tracef("Looked at again, changed: %s", changed);
                }
                work.drainPermits();
                FoundWorkers found = view.found();
                if (found != null) {
                    tell(feed, found);
                }
            } catch (InterruptedException e) {
                return; // closed
            } catch (RuntimeException e) {
                LOG.error("Workers of Kubernetes could not be told; tried at the next change", e);
            }
        }
    }

    private void tell(Feed feed, FoundWorkers found) {
        doubt(found, System.nanoTime());
        // First those that leave: a StatefulSet gives their names again.
        for (String key : published.keySet().toArray(new String[0])) {
            String held = found.held().get(key);
            if (held != null) {
                away(feed, key, null, held);
            } else if (!found.workers().containsKey(key) && !found.problems().containsKey(key)) {
                published.remove(key);
                away.remove(key);
                feed.remove(key);
            }
        }
        found.workers().forEach((key, now) -> tell(feed, key, now));
    }

    private void tell(Feed feed, String key, FoundWorkers.Found now) {
        if (!now.serves()) {
            away(feed, key, now.leaving(), now.held());
            return;
        }
        WorkerSpec had = published.put(key, now.spec());
        if (away.remove(key) != null || !now.spec().equals(had)) {
            feed.put(key, now.spec());
        }
    }

    /** One that has not started yet, or that nobody here knew, needs no goodbye. */
    private void away(Feed feed, String key, @Nullable String leaving, @Nullable String held) {
        String why = leaving == null ? held : leaving;
        if (why == null || !published.containsKey(key) || why.equals(away.put(key, why))) {
            return;
        }
        if (leaving == null) {
            feed.hold(key, why);
        } else {
            feed.drain(key, why);
        }
    }

    /** What is wrong for longer than a moment is a problem. */
    private void doubt(FoundWorkers found, long now) {
        Map<String, String> wrong = found.wrong();
        Map<String, String> before = problems;
        Map<String, String> after = new TreeMap<>();
        doubts.keySet().retainAll(wrong.keySet());
        wrong.forEach(
                (key, problem) -> {
                    if (problem.equals(before.get(key))) {
                        after.put(key, problem);
                    } else if (now - doubts.computeIfAbsent(key, k -> now) >= settle.toNanos()) {
                        String taken =
                                found.workers().containsKey(key)
                                        ? ""
                                        : " cannot be taken as a worker";
                        LOG.warnf("%s%s: %s", key, taken, problem);
                        after.put(key, problem);
                    }
                });
        doubts.keySet().removeAll(after.keySet());
        problems = Collections.unmodifiableMap(after);
    }

    @Override
    public void close() {
        closed = true;
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
        view.close();
        if (objectives != null) {
            objectives.close();
        }
        if (rewrites != null) {
            rewrites.close();
        }
        api.close();
    }
}
