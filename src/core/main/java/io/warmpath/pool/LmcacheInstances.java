package io.warmpath.pool;

import io.warmpath.pool.PoolUnavailableException.Reason;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Which chunks each LMCache instance holds, as its workers tell their controller.
 *
 * <p>An instance has a worker for each tensor-parallel rank that keeps a part, and a worker has
 * locations (host memory, disk). An instance holds a chunk when each of its workers has it
 * somewhere. What is told after a missing message is not believed together with what was told
 * before it: that location is emptied, and the worker is to tell everything again.
 *
 * <p>Changes come from one thread; stores and counts are read by any.
 */
public final class LmcacheInstances {
    /** Workers that are followed: far above real fleets. */
    static final int MOST_WORKERS = 8192;

    private static final int MOST_LOCATIONS = 16;
    private static final int MOST_BATCHES = 1 << 16;

    /** A change of one chunk, with its number in its location. */
    public record Operation(boolean admitted, long hash, long sequence) {}

    /** How far a worker has told everything. */
    public record SyncStatus(boolean complete, boolean known, List<Integer> missingBatches) {}

    private final Map<String, Map<Integer, Worker>> instances = new ConcurrentHashMap<>();
    private final LongAdder operations = new LongAdder();
    private final LongAdder ignored = new LongAdder();
    private final LongAdder gaps = new LongAdder();
    private final long mostChunks;
    private long chunks; // of all
    private int workers;

    private static final class Location {
        final Set<Long> chunks = ConcurrentHashMap.newKeySet();

        /** Number of the operation that should come next; -1: any. */
        long next;
    }

    private static final class Worker {
        final Map<String, Location> locations = new ConcurrentHashMap<>();
        final BitSet received = new BitSet();
        boolean complete;
        String sync = "";
        int batches;
    }

    /** {@code mostChunks}: that are kept, each copy counted; some 64 bytes each. */
    public LmcacheInstances(long mostChunks) {
        this.mostChunks = mostChunks;
    }

    /** A process has begun; it holds nothing yet. */
    public void registered(String instance, int worker) {
        Worker made = worker(instance, worker);
        if (made != null) {
            made.locations.values().forEach(this::clear);
            made.locations.clear();
            made.complete = true;
            made.sync = "";
        }
    }

    public void deregistered(String instance, int worker) {
        Map<Integer, Worker> all = instances.get(instance);
        Worker gone = all == null ? null : all.remove(worker);
        if (all != null && gone != null) {
            gone.locations.values().forEach(this::clear);
            workers--;
            if (all.isEmpty()) {
                instances.remove(instance);
            }
        }
    }

    /** A sign of life; true: it is to tell everything that it holds. */
    public boolean wantsAll(String instance, int worker) {
        Worker known = worker(instance, worker);
        return known != null && !known.complete;
    }

    public void changed(String instance, int worker, String location, List<Operation> changes) {
        Worker of = worker(instance, worker);
        Location at = of == null ? null : location(of, location);
        if (of == null || at == null) {
            ignored.add(changes.size());
            return;
        }
        for (Operation change : changes) {
            if (at.next >= 0 && change.sequence() != at.next) {
                gaps.increment();
                clear(at);
                of.complete = false;
            }
            at.next = change.sequence() + 1;
            if (!change.admitted()) {
                chunks -= at.chunks.remove(change.hash()) ? 1 : 0;
                operations.increment();
            } else {
                admit(at, change.hash());
            }
        }
    }

    private void admit(Location at, long hash) {
        if (chunks < mostChunks) {
            chunks += at.chunks.add(hash) ? 1 : 0;
            operations.increment();
        } else {
            ignored.increment();
        }
    }

    private void clear(Location at) {
        chunks -= at.chunks.size();
        at.chunks.clear();
    }

    /** The worker begins to tell all that it holds in a location, in that many batches. */
    public boolean begin(String instance, int worker, String location, String sync, int batches) {
        Worker of = worker(instance, worker);
        Location at = of == null ? null : location(of, location);
        if (of == null || at == null || batches < 0 || batches > MOST_BATCHES) {
            ignored.increment();
            return false;
        }
        clear(at);
        of.complete = false;
        of.sync = sync;
        of.batches = batches;
        of.received.clear();
        return true;
    }

    public void batch(
            String instance, int worker, String location, String sync, int batch, long[] hashes) {
        Worker of = syncing(instance, worker, sync);
        Location at = of == null ? null : location(of, location);
        if (of == null || at == null || batch < 0 || batch >= of.batches) {
            ignored.increment();
            return;
        }
        for (long hash : hashes) {
            admit(at, hash);
        }
        of.received.set(batch);
    }

    public void end(String instance, int worker, String sync) {
        Worker of = syncing(instance, worker, sync);
        if (of == null) {
            ignored.increment();
        } else {
            of.complete = of.received.cardinality() == of.batches;
        }
    }

    public SyncStatus status(String instance, int worker, String sync) {
        Worker of = syncing(instance, worker, sync);
        List<Integer> missing = new ArrayList<>();
        if (of != null) {
            for (int i = of.received.nextClearBit(0); i < of.batches; ) {
                missing.add(i);
                i = of.received.nextClearBit(i + 1);
            }
        }
        return new SyncStatus(of != null && of.complete, of != null, missing);
    }

    private @Nullable Worker syncing(String instance, int worker, String sync) {
        Map<Integer, Worker> all = instances.get(instance);
        Worker of = all == null ? null : all.get(worker);
        return of == null || sync.isEmpty() || !of.sync.equals(sync) ? null : of;
    }

    /** A worker that is heard of first by what it does has begun before this process. */
    private @Nullable Worker worker(String instance, int worker) {
        Map<Integer, Worker> all = instances.get(instance);
        Worker known = all == null ? null : all.get(worker);
        if (known == null && workers < MOST_WORKERS) {
            workers++;
            known = new Worker();
            instances.computeIfAbsent(instance, i -> new ConcurrentHashMap<>()).put(worker, known);
        }
        return known;
    }

    private static @Nullable Location location(Worker of, String name) {
        Location known = of.locations.get(name);
        if (known == null && of.locations.size() < MOST_LOCATIONS) {
            known = new Location();
            // Of a worker that was seen to begin, the first one counts too.
            known.next = of.complete && of.sync.isEmpty() ? 0 : -1;
            of.locations.put(name, known);
        }
        return known;
    }

    /** Chunks that were taken up or given up. */
    public long operations() {
        return operations.sum();
    }

    /** Messages, and operations, beyond the bounds or of a sync that is none. */
    public long ignored() {
        return ignored.sum();
    }

    /** Times that operations were missing. */
    public long gaps() {
        return gaps.sum();
    }

    /** Chunks held now, each copy counted. */
    public long chunks() {
        return all().stream().mapToLong(Set::size).sum();
    }

    private List<Set<Long>> all() {
        return instances.values().stream()
                .map(Map::values)
                .flatMap(Collection::stream)
                .flatMap(w -> w.locations.values().stream())
                .map(l -> l.chunks)
                .toList();
    }

    /** What one instance holds; an instance that has not been heard of fails. */
    public KeyStore store(String instance) {
        return new Store(instance);
    }

    private final class Store implements KeyStore {
        private final String instance;

        Store(String instance) {
            this.instance = instance;
        }

        @Override
        public CompletionStage<BitSet> held(List<String> keys) {
            Map<Integer, Worker> all = instances.get(instance);
            if (all == null) {
                return CompletableFuture.failedFuture(
                        new PoolUnavailableException(
                                Reason.UNREACHABLE,
                                "no LMCache with the instance id " + instance + " has registered"));
            }
            BitSet held = new BitSet(keys.size());
            for (int i = 0; i < keys.size(); i++) {
                long hash = Long.parseUnsignedLong(keys.get(i));
                held.set(i, all.values().stream().allMatch(w -> holds(w, hash)));
            }
            return CompletableFuture.completedFuture(held);
        }

        private static boolean holds(Worker worker, long hash) {
            for (Location at : worker.locations.values()) {
                if (at.chunks.contains(hash)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public CompletionStage<List<String>> some(int most) {
            Map<Integer, Worker> known = instances.getOrDefault(instance, Map.of());
            return CompletableFuture.completedFuture(
                    known.values().stream()
                            .flatMap(w -> w.locations.values().stream())
                            .flatMap(l -> l.chunks.stream())
                            .limit(most)
                            .map(LmcacheChunks::key)
                            .toList());
        }

        @Override
        public void onForget(Runnable forget) {
            // Nothing that was answered before is kept.
        }

        @Override
        public void close() {
            // What is known of the instance stays: another worker may come with it.
        }
    }
}
