package io.warmpath.gateway.shared;

import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Worker;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolQuestion;
import io.warmpath.pool.RecipeCheck;
import io.warmpath.pool.SharedPool;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * One pool, the workers that are in it, and how its answers have been. Any thread; {@link #join}
 * and {@link #leave} one at a time.
 */
final class OpenPool {
    private static final Logger LOG = Logger.getLogger(SharedCache.class);

    /** Prompts that are kept to be looked for. */
    private static final int KEPT_PROMPTS = 32;

    private static final long SAMPLE_NANOS = 1_000_000_000;

    /** After so many late answers in a row the pool is logged as too slow. */
    private static final int LATE_IN_A_ROW = 20;

    final SharedPool pool;
    final RecipeCheck check;
    final String name;
    private volatile Set<Long> workers = Set.of();
    private final AtomicInteger lateInARow = new AtomicInteger();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final AtomicLong sampledAt;

    // Of the self-check; its timer only.
    long firstStored = -1;
    long checkedAt = -1;
    private volatile boolean mismatched;

    OpenPool(SharedPool pool, long nowNanos) {
        PoolLayout layout = pool.layout();
        this.pool = pool;
        this.check = new RecipeCheck(layout.recipe().pageSize(), KEPT_PROMPTS);
        this.name = layout.masters().getFirst().getAuthority();
        this.sampledAt = new AtomicLong(nowNanos - SAMPLE_NANOS);
    }

    Set<Long> workers() {
        return workers;
    }

    void join(long worker) {
        Set<Long> more = new HashSet<>(workers);
        more.add(worker);
        workers = Set.copyOf(more);
    }

    /** True when no member is left. */
    boolean leave(long worker) {
        Set<Long> fewer = new HashSet<>(workers);
        fewer.remove(worker);
        workers = Set.copyOf(fewer);
        return fewer.isEmpty();
    }

    /** It did not answer. Warns once until it has answered again. */
    void failed(String why) {
        if (failing.compareAndSet(false, true)) {
            LOG.warnf(
                    "Shared cache query failed (%s): %s; requests are scored by the index alone"
                            + " until it answers",
                    name, why);
        }
    }

    /** It answers, but requests do not wait so long. */
    void late(long deadlineMillis) {
        if (lateInARow.incrementAndGet() == LATE_IN_A_ROW) {
            failed(
                    ("%s answers in a row took longer than %s ms"
                                    + " (warmpath.shared-cache.deadline)")
                            .formatted(LATE_IN_A_ROW, deadlineMillis));
        }
    }

    /** In time. */
    void answered() {
        // Plain reads first: a pool that works must not write to a shared cache line.
        if (lateInARow.get() != 0) {
            lateInARow.set(0);
        }
        if (failing.get() && failing.compareAndSet(true, false)) {
            LOG.infof("Shared cache (%s) answers again", name);
        }
    }

    boolean isFailing() {
        return failing.get();
    }

    /** Whether a prompt that this worker gets should be kept for the self-check. */
    boolean wantsSample(Worker worker, long nowNanos) {
        HostCopies copies = worker.offload().host();
        if (copies == HostCopies.ON_EVICTION || copies == HostCopies.SELECTIVE) {
            return false; // what it computes is not in the pool for certain
        }
        long last = sampledAt.get();
        return nowNanos - last >= SAMPLE_NANOS && sampledAt.compareAndSet(last, nowNanos);
    }

    void stored(PoolQuestion question) {
        check.stored(question);
    }

    /** Prompts to look for now. */
    List<PoolQuestion> sample() {
        return check.sample();
    }

    boolean isMismatched() {
        return mismatched;
    }

    /** What came of a look; said once per change. */
    void checked(RecipeCheck.Verdict verdict) {
        switch (verdict) {
            case RecipeCheck.Verdict.Nothing nothing when nothing.wrongRecipe() -> {
                if (!mismatched) {
                    LOG.warnf("Shared cache (%s): %s", name, nothing.message());
                }
                mismatched = true;
            }
            case RecipeCheck.Verdict.Nothing empty -> LOG.debugf("%s: %s", name, empty.message());
            case RecipeCheck.Verdict.Fits fits -> {
                if (mismatched) {
                    LOG.infof(
                            "Shared cache (%s): %d of %d stored pages are found now",
                            name, fits.found(), fits.asked());
                }
                mismatched = false;
            }
            case RecipeCheck.Verdict.NothingToAsk nothing -> {}
        }
    }
}
