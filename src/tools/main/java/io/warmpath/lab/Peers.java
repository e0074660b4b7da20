package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.lab.policy.Policy;
import io.warmpath.sim.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * What routers tell each other of their requests. One thread. Every message takes the same time, so
 * they arrive in their order. While the line is cut they are lost; after {@link
 * Replicas#limitMillis}, or when the line is back, everybody forgets what the others had running
 * and begins anew.
 */
final class Peers {
    private static final double NANOS_PER_MILLI = 1e6;

    private final VirtualTime time;
    private final Replicas replicas;
    private final List<Policy> policies = new ArrayList<>();

    /** By router: what others have running, as it has heard. */
    private final List<Map<Integer, Call>> heard = new ArrayList<>();

    private long cutUntilNanos;

    Peers(VirtualTime time, Replicas replicas) {
        this.time = time;
        this.replicas = replicas;
    }

    void add(Policy policy) {
        policies.add(policy);
        heard.add(new LinkedHashMap<>());
        if (replicas.talk()) {
            policy.among(policies.size() - 1, replicas.count());
        }
    }

    /** Nothing is heard for so long. */
    void cut(double seconds) {
        cutUntilNanos = time.nanos() + (long) (seconds * 1e9);
        double forget = Math.min(seconds * 1000, replicas.limitMillis());
        time.after((long) (forget * NANOS_PER_MILLI), this::forgetAll);
        time.after((long) (seconds * 1e9), this::together);
    }

    private void together() {
        for (int i = 0; i < policies.size(); i++) {
            policies.get(i).among(i, policies.size());
        }
    }

    private void forgetAll() {
        for (int i = 0; i < policies.size(); i++) {
            Map<Integer, Call> of = heard.get(i);
            of.values().forEach(policies.get(i)::forget);
            of.clear();
            policies.get(i).among(0, 1);
        }
    }

    void sent(Call call, int engine, int router) {
        tell(
                router,
                (to, calls) -> {
                    calls.put(call.number(), call);
                    to.sentByPeer(call, engine);
                });
    }

    void firstToken(Call call, int router) {
        tell(
                router,
                (to, calls) -> {
                    if (calls.containsKey(call.number())) {
                        to.firstToken(call);
                    }
                });
    }

    void ended(Call call, int router) {
        tell(
                router,
                (to, calls) -> {
                    if (calls.remove(call.number()) != null) {
                        to.ended(call);
                    }
                });
    }

    private void tell(int router, BiConsumer<Policy, Map<Integer, Call>> news) {
        if (!replicas.talk() || time.nanos() < cutUntilNanos) {
            return;
        }
        time.after(
                (long) (replicas.syncMillis() * NANOS_PER_MILLI),
                () -> {
                    for (int i = 0; i < policies.size(); i++) {
                        if (i != router) {
                            news.accept(policies.get(i), heard.get(i));
                        }
                    }
                });
    }
}
