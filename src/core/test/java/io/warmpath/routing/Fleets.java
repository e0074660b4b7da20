package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** Small fleets, matches and requests for routing tests. */
public final class Fleets {
    private Fleets() {}

    /** Worker {@code id} with one rank in slot {@code id}. */
    public static Candidate worker(int id, int blockSize) {
        return ranks(id, blockSize, id).getFirst();
    }

    /** Workers 0..count-1 of one block size. */
    public static List<Candidate> workers(int count, int blockSize) {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(worker(i, blockSize));
        }
        return all;
    }

    /** Worker {@code i}, in slot {@code i}, of the {@code i}-th weight. */
    static List<Candidate> weighing(int blockSize, double... weights) {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            all.add(ranks(i, blockSize, weights[i], i).getFirst());
        }
        return all;
    }

    /** Worker {@code i}, in slot {@code i}, with so many KV blocks; 0: it does not say. */
    static List<Candidate> withRoom(int blockSize, long... kvBlocks) {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < kvBlocks.length; i++) {
            Candidate c = worker(i, blockSize);
            Worker roomy = c.worker().toBuilder().capacity(new Capacity(0, kvBlocks[i])).build();
            all.add(new Candidate(roomy, c.dpRank(), c.slot()));
        }
        return all;
    }

    /** One worker with a rank per slot. */
    public static List<Candidate> ranks(int id, int blockSize, int... slots) {
        return ranks(id, blockSize, 1, slots);
    }

    private static List<Candidate> ranks(int id, int blockSize, double weight, int... slots) {
        List<Worker.Rank> ranks = new ArrayList<>();
        for (int r = 0; r < slots.length; r++) {
            ranks.add(new Worker.Rank(r, new WorkerSlot(slots[r])));
        }
        Worker worker =
                Worker.builder(id, "w" + id, URI.create("http://w" + id))
                        .kind(EngineKind.SGLANG)
                        .models(Set.of("m"))
                        .blockSize(blockSize)
                        .ranks(ranks)
                        .weight(weight)
                        .build();
        return ranks.stream().map(r -> new Candidate(worker, r.dpRank(), r.slot())).toList();
    }

    public static RoutingRequest request(
            List<Candidate> candidates, int promptTokens, PrefixMatch... matches) {
        return RoutingRequest.builder(candidates, promptTokens, List.of(matches))
                .build()
                .with(RoutingRequest.Detail.ALL);
    }

    public static RoutingRequest pin(RoutingRequest r, OptionalLong worker, OptionalInt rank) {
        return RoutingRequest.builder(r.candidates(), r.promptTokens(), r.matches())
                .pinnedWorker(worker)
                .pinnedRank(rank)
                .build()
                .with(RoutingRequest.Detail.ALL);
    }

    /** Match of a prompt of {@code blocks} blocks: per slot 0, 1, ... its cumulative depths. */
    public static PrefixMatch tiers(int blockSize, int blocks, int[]... depths) {
        int[] slots = new int[depths.length];
        Arrays.setAll(slots, i -> i);
        int[] flat = Arrays.stream(depths).flatMapToInt(Arrays::stream).toArray();
        return new PrefixMatch(blockSize, blocks, slots, flat);
    }

    /** The same with device blocks only. */
    public static PrefixMatch device(int blockSize, int blocks, int... depths) {
        int[][] all = new int[depths.length][Tier.COUNT];
        for (int i = 0; i < depths.length; i++) {
            Arrays.fill(all[i], depths[i]);
        }
        return tiers(blockSize, blocks, all);
    }
}
