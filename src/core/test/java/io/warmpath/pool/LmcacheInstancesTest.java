package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.LmcacheInstances.Operation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LmcacheInstancesTest {
    private static final String HOST = "LocalCPUBackend";
    private static final String DISK = "LocalDiskBackend";
    private static final int HASHES = 24;

    private final LmcacheInstances instances = new LmcacheInstances(1 << 20);

    private static Operation admit(long hash, long number) {
        return new Operation(true, hash, number);
    }

    private static Operation evict(long hash, long number) {
        return new Operation(false, hash, number);
    }

    private boolean holds(String instance, long hash) throws Exception {
        return held(instance, hash).get(0);
    }

    private BitSet held(String instance, long... hashes) throws Exception {
        List<String> keys = LongStream.of(hashes).mapToObj(LmcacheChunks::key).toList();
        return instances.store(instance).held(keys).toCompletableFuture().get();
    }

    @Test
    void chunks_beyond_the_bound_are_not_kept_and_room_comes_back() throws Exception {
        LmcacheInstances few = new LmcacheInstances(3);
        few.registered("a", 0);
        few.registered("b", 0);
        few.changed("a", 0, HOST, List.of(admit(1, 0), admit(1, 1), admit(2, 2)));
        few.changed("b", 0, DISK, List.of(admit(3, 0), admit(4, 1)));
        assertEquals(3, few.chunks());
        assertEquals(1, few.ignored());
        few.changed("a", 0, HOST, List.of(evict(2, 3), evict(2, 4)));
        few.changed("b", 0, DISK, List.of(admit(4, 2), admit(5, 3)));
        assertEquals(3, few.chunks());
        few.registered("b", 0);
        few.changed("a", 0, HOST, List.of(admit(6, 5), admit(7, 6), admit(8, 7)));
        assertEquals(3, few.chunks());
        few.deregistered("a", 0);
        few.begin("b", 0, HOST, "s", 1);
        few.batch("b", 0, HOST, "s", 0, new long[] {1, 2, 3, 4});
        assertEquals(3, few.chunks());
    }

    @Test
    void a_chunk_counts_where_every_worker_of_the_instance_has_it_somewhere() throws Exception {
        instances.registered("a", 0);
        instances.registered("a", 1);
        instances.registered("b", 0);
        instances.changed("a", 0, HOST, List.of(admit(-7, 0)));
        assertFalse(holds("a", -7));
        instances.changed("a", 1, DISK, List.of(admit(-7, 0)));
        assertTrue(holds("a", -7));
        assertFalse(holds("b", -7));
        instances.changed("a", 1, HOST, List.of(admit(-7, 0)));
        instances.changed("a", 1, DISK, List.of(evict(-7, 1)));
        assertTrue(holds("a", -7));
        instances.deregistered("a", 1);
        assertTrue(holds("a", -7));
        instances.registered("a", 0);
        assertFalse(holds("a", -7));
    }

    @Test
    void an_instance_that_nobody_has_heard_of_is_a_failure_and_not_an_empty_cache() {
        ExecutionException e = assertThrows(ExecutionException.class, () -> holds("a", 1));
        assertTrue(e.getCause().getMessage().contains("instance id a"), e.getMessage());
        instances.registered("a", 0);
        instances.deregistered("a", 0);
        assertThrows(ExecutionException.class, () -> holds("a", 1));
    }

    @Test
    void after_a_missing_operation_nothing_before_it_counts_until_all_is_told_anew()
            throws Exception {
        instances.registered("a", 0);
        instances.changed("a", 0, HOST, List.of(admit(1, 0), admit(2, 1)));
        instances.changed("a", 0, DISK, List.of(admit(3, 0)));
        assertFalse(instances.wantsAll("a", 0));
        instances.changed("a", 0, HOST, List.of(admit(4, 3)));
        assertEquals(1, instances.gaps());
        assertTrue(instances.wantsAll("a", 0));
        assertEquals("{2, 3}", held("a", 1, 2, 3, 4).toString());
        assertTrue(instances.begin("a", 0, HOST, "s", 2));
        instances.batch("a", 0, HOST, "s", 1, new long[] {4});
        instances.end("a", 0, "s");
        assertEquals(
                new LmcacheInstances.SyncStatus(false, true, List.of(0)),
                instances.status("a", 0, "s"));
        assertTrue(instances.wantsAll("a", 0));
        instances.batch("a", 0, HOST, "s", 0, new long[] {1, 2});
        instances.end("a", 0, "s");
        assertEquals(
                new LmcacheInstances.SyncStatus(true, true, List.of()),
                instances.status("a", 0, "s"));
        assertFalse(instances.wantsAll("a", 0));
        assertEquals("{0, 1, 2, 3}", held("a", 1, 2, 3, 4).toString());
    }

    @Test
    void the_first_operation_of_a_worker_that_was_seen_to_begin_may_not_be_missing() {
        instances.registered("a", 0);
        instances.changed("a", 0, HOST, List.of(admit(1, 1)));
        assertEquals(1, instances.gaps());
        instances.changed("unseen", 0, HOST, List.of(admit(1, 100)));
        assertEquals(1, instances.gaps());
        assertTrue(instances.wantsAll("unseen", 0));
    }

    @Test
    void what_is_beyond_the_bounds_or_of_no_sync_is_counted_and_changes_nothing() throws Exception {
        instances.registered("a", 0);
        instances.batch("a", 0, HOST, "never begun", 0, new long[] {1});
        instances.batch("nobody", 0, HOST, "s", 0, new long[] {1});
        instances.end("a", 0, "never begun");
        assertEquals(3, instances.ignored());
        assertFalse(instances.begin("a", 0, HOST, "s", Integer.MAX_VALUE));
        assertFalse(holds("a", 1));
        assertEquals(
                new LmcacheInstances.SyncStatus(false, false, List.of()),
                instances.status("a", 0, "other"));
        for (int i = 0; i < 2 * LmcacheInstances.MOST_WORKERS; i++) {
            instances.registered("flood", i);
        }
        instances.changed("late", 0, HOST, List.of(admit(1, 0)));
        assertThrows(ExecutionException.class, () -> holds("late", 1));
        assertTrue(instances.ignored() > 4);
    }

    /** Against sets that do as the messages say, one worker and location each. */
    @Test
    void random_operations_leave_what_a_set_for_each_worker_holds() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, Map<Integer, Map<String, Set<Long>>>> oracle = new HashMap<>();
        Map<String, Long> numbers = new HashMap<>();
        Map<String, String> syncs = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            String instance = "i" + random.nextInt(3);
            int worker = random.nextInt(2);
            String location = random.nextBoolean() ? HOST : DISK;
            String rank = instance + "/" + worker;
            Set<Long> chunks =
                    oracle.computeIfAbsent(instance, i -> new HashMap<>())
                            .computeIfAbsent(worker, w -> new HashMap<>())
                            .computeIfAbsent(location, l -> new HashSet<>());
            switch (random.nextInt(40)) {
                case 0 -> {
                    instances.registered(instance, worker);
                    oracle.get(instance).get(worker).clear();
                    numbers.keySet().removeIf(k -> k.startsWith(rank));
                    syncs.remove(rank);
                }
                case 1 -> {
                    instances.deregistered(instance, worker);
                    oracle.get(instance).remove(worker);
                    numbers.keySet().removeIf(k -> k.startsWith(rank));
                    syncs.remove(rank);
                    if (oracle.get(instance).isEmpty()) {
                        oracle.remove(instance);
                    }
                }
                case 2 -> {
                    syncs.put(rank, "sync" + step);
                    instances.begin(instance, worker, location, "sync" + step, 2);
                    chunks.clear();
                }
                case 3 -> {
                    long[] hashes = random.longs(4, 0, HASHES).toArray();
                    String sync = syncs.getOrDefault(rank, "none");
                    instances.batch(instance, worker, location, sync, 1, hashes);
                    if (!sync.equals("none")) {
                        LongStream.of(hashes).forEach(chunks::add);
                    } else {
                        touched(oracle, instance, worker);
                    }
                }
                case 4 -> {
                    // Numbers go on behind a hole: what was told before does not count.
                    long next = numbers.getOrDefault(rank + location, 0L);
                    if (next > 0) {
                        instances.changed(instance, worker, location, List.of(evict(0, next + 1)));
                        chunks.clear();
                        numbers.put(rank + location, next + 2);
                    } else {
                        touched(oracle, instance, worker);
                    }
                }
                default -> {
                    long next = numbers.getOrDefault(rank + location, 0L);
                    List<Operation> some = new ArrayList<>();
                    for (int i = random.nextInt(3); i >= 0; i--) {
                        long hash = random.nextInt(HASHES);
                        boolean admit = random.nextInt(3) > 0;
                        some.add(new Operation(admit, hash, next++));
                        if (admit) {
                            chunks.add(hash);
                        } else {
                            chunks.remove(hash);
                        }
                    }
                    numbers.put(rank + location, next);
                    instances.changed(instance, worker, location, some);
                }
            }
            same(oracle, instance, "seed " + seed + ", step " + step);
        }
    }

    /** A message that changes nothing makes no worker known either, unless it has a change. */
    private void touched(
            Map<String, Map<Integer, Map<String, Set<Long>>>> oracle, String instance, int worker) {
        instances.wantsAll(instance, worker);
        assertTrue(oracle.get(instance).containsKey(worker));
    }

    private void same(
            Map<String, Map<Integer, Map<String, Set<Long>>>> oracle, String instance, String when)
            throws Exception {
        Map<Integer, Map<String, Set<Long>>> workers = oracle.get(instance);
        if (workers == null) {
            assertThrows(ExecutionException.class, () -> holds(instance, 0), when);
            return;
        }
        BitSet expected = new BitSet();
        for (int hash = 0; hash < HASHES; hash++) {
            long h = hash;
            expected.set(
                    hash,
                    workers.values().stream()
                            .allMatch(w -> w.values().stream().anyMatch(s -> s.contains(h))));
        }
        assertEquals(expected, held(instance, LongStream.range(0, HASHES).toArray()), when);
    }
}
