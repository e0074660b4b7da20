package io.warmpath.adapter.nats;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which registered workers are still wanted: a lease begins anew with every write that is seen, by
 * the clock of who sees it; no two clocks are compared.
 *
 * <p>Leases run only while this side's own marks, written into the same bucket, come back over the
 * same watch: then every write of a relay would have been seen, too. Marks that stay away for
 * {@code gap} are an outage, after which every lease begins anew. A shorter one is not noticed, so
 * no lease is shorter than two of it.
 *
 * <p>One thread. Times are of {@link System#nanoTime}'s kind.
 */
final class WorkerLeases {
    /**
     * The write of a lease that ran out is remembered so long, should a new watch tell it again.
     */
    private static final long REMEMBERED = 24L * 3600 * 1_000_000_000;

    private record Held(long revision, long lengthNanos, long since) {}

    private record Ended(long revision, long at) {}

    private final long gapNanos;
    private final Map<String, Held> held = new HashMap<>();
    private final Map<String, Ended> ended = new HashMap<>();
    private boolean marked;
    private long lastMark;

    WorkerLeases(long gapNanos) {
        this.gapNanos = gapNanos;
    }

    /** A mark of our own has come back. */
    void marked(long now) {
        if (!live(now)) {
            held.replaceAll((k, h) -> new Held(h.revision(), h.lengthNanos(), now));
        }
        marked = true;
        lastMark = now;
    }

    /** It is known already that marks stay away. */
    void outage() {
        marked = false;
    }

    /** Leases run. */
    boolean live(long now) {
        return marked && now - lastMark <= gapNanos;
    }

    /**
     * A write was seen.
     *
     * @param revision another one for each write of the key
     * @return false when it was seen before: then nothing begins anew
     */
    boolean seen(String key, long revision, long lengthNanos, long now) {
        Held known = held.get(key);
        Ended before = ended.get(key);
        if ((known != null && known.revision() == revision)
                || (before != null && before.revision() == revision)) {
            return false;
        }
        ended.remove(key);
        held.put(key, new Held(revision, Math.max(lengthNanos, 2 * gapNanos), now));
        return true;
    }

    /** A write was seen that cannot be read: whoever wrote it lives. */
    void seen(String key, long revision, long now) {
        Held known = held.get(key);
        if (known != null) {
            seen(key, revision, known.lengthNanos(), now);
        }
    }

    /** Its relay has taken it back. */
    void end(String key) {
        held.remove(key);
        ended.remove(key);
    }

    /** Takes out those that have run out. */
    List<String> runOut(long now) {
        if (!live(now)) {
            return List.of();
        }
        ended.values().removeIf(e -> now - e.at() > REMEMBERED);
        List<String> out = new ArrayList<>();
        held.forEach(
                (key, h) -> {
                    if (now - h.since() >= h.lengthNanos()) {
                        out.add(key);
                        ended.put(key, new Ended(h.revision(), now));
                    }
                });
        held.keySet().removeAll(out);
        return out;
    }

    int size() {
        return held.size();
    }
}
