package io.warmpath.adapter.kubernetes;

import java.util.HashSet;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One InferencePool, by its name, and the pods that it selects. */
final class PoolView implements ClusterView {
    private static final Logger LOG = Logger.getLogger(PoolView.class);

    private final String name;
    private final String namespace;
    private final Reflector.Setup setup;
    private final Runnable changed;
    private final Reflector<InferencePool> pools;
    private volatile @Nullable Reflector<Pod> pods;
    private volatile String lacking;
    private volatile int serving;
    private volatile boolean closed;

    // Only touched by whoever asks what was found.
    private String selector = "";
    private final Set<String> complaints = new HashSet<>();

    PoolView(String name, String namespace, Reflector.Setup setup, Runnable changed) {
        this.name = name;
        this.namespace = namespace;
        this.setup = setup;
        this.changed = changed;
        lacking = "the InferencePool " + name + " has not been looked up yet";
        pools =
                new Reflector<>(
                        "inferencepools",
                        setup,
                        Reflector.Selection.named(
                                "/apis/inference.networking.k8s.io/v1/namespaces/"
                                        + namespace
                                        + "/inferencepools",
                                name),
                        InferencePool::of,
                        changed,
                        false);
    }

    @Override
    public String what() {
        return "the InferencePool " + name + " and its pods";
    }

    @Override
    public void start() {
        pools.start();
    }

    @Override
    public @Nullable FoundWorkers found() {
        if (!pools.listed()) {
            return null;
        }
        InferencePool pool = pools.objects().get(name);
        if (pool == null) {
            select("");
            noted(FoundWorkers.NONE, "there is no InferencePool " + name + " in " + namespace);
            return FoundWorkers.NONE;
        }
        complain(pool);
        select(pool.selector());
        Reflector<Pod> selected = pods;
        if (selected == null || !selected.listed()) {
            return null;
        }
        FoundWorkers found = pool.workers(selected.objects());
        noted(found, "no pod of the InferencePool " + name + " is ready");
        return found;
    }

    /** Follows these pods and no others from now on. */
    private void select(String wanted) {
        if (wanted.equals(selector)) {
            return;
        }
        selector = wanted;
        Reflector<Pod> before = pods;
        Reflector<Pod> now =
                wanted.isEmpty() ? null : Pod.reflector(namespace, wanted, setup, changed);
        synchronized (this) {
            pods = now;
            if (now != null && !closed) {
                now.start();
            }
        }
        if (before != null) {
            before.close();
        }
    }

    private void noted(FoundWorkers found, String without) {
        serving =
                (int) found.workers().values().stream().filter(FoundWorkers.Found::serves).count();
        String now = serving > 0 ? "" : without;
        if (!now.equals(lacking)) {
            lacking = now;
            if (now.isEmpty()) {
                LOG.infof("Endpoints of the InferencePool %s that serve: %d", name, serving);
            } else {
                LOG.warnf("There are no workers: %s", now);
            }
        }
    }

    private void complain(InferencePool pool) {
        complaints.retainAll(pool.complaints());
        for (String complaint : pool.complaints()) {
            if (complaints.add(complaint)) {
                LOG.warnf("InferencePool %s: %s", name, complaint);
            }
        }
    }

    /** Why no endpoint of the pool serves; empty: one does. Any thread. */
    String lacking() {
        return lacking;
    }

    /** Endpoints that serve. Any thread. */
    int serving() {
        return serving;
    }

    @Override
    public boolean connected() {
        Reflector<Pod> selected = pods;
        return pools.connected() && (selected == null || selected.connected());
    }

    @Override
    public void close() {
        Reflector<Pod> selected;
        synchronized (this) {
            closed = true;
            selected = pods;
        }
        pools.close();
        if (selected != null) {
            selected.close();
        }
    }
}
