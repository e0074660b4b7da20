package io.warmpath.prefix;

import io.warmpath.prefix.ContentTree.Block;
import io.warmpath.prefix.ContentTree.Node;
import io.warmpath.prefix.ContentTree.Residency;
import io.warmpath.prefix.OrphanEvents.Orphan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * The literal index: what each worker holds, by the tokens themselves. It says what the native
 * index has to answer, and serves {@code warmpath.index.implementation=java}.
 *
 * <p>Any thread. Unlike the port asks, {@link #match} waits while a batch is applied: this class is
 * for tests and debugging, not for load.
 *
 * <p>The rules, which {@code PrefixIndexContract} checks on every implementation:
 *
 * <ul>
 *   <li>A slot maps engine hash to (content path, tiers). A path is the list of blocks from the
 *       start of the prompt, a block its space and tokens.
 *   <li>A stored event continues the path of its parent, if the slot holds the parent in some tier
 *       now; else it is an orphan and is applied when the parent comes, as if it came then.
 *   <li>A hash stored again at its path gains the tier. Stored at another path it moves there and
 *       is forgotten at the old one; what lies behind it stays where it is.
 *   <li>Two hashes of one slot with one path: the slot holds the block while either stays.
 *   <li>An event of a slot that is closed, or of an earlier owner of its number, changes nothing.
 *   <li>An approximate slot holds the blocks of its decisions that have not ended, nothing else.
 *   <li>Removing a block leaves those behind it: they count again when the hole is filled.
 * </ul>
 */
public final class ReferencePrefixIndex implements PrefixIndex {
    public static final long DEFAULT_ORPHAN_LIMIT = 1 << 20;
    private static final int ALL_TIERS = (1 << Tier.COUNT) - 1;

    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final ContentTree tree = new ContentTree();
    private final OrphanEvents orphans;
    private final DecisionLimits decisionLimits;

    /** Of the approximate slots, by groups of {@link DecisionLimits#SLOTS}. */
    private final Map<Integer, Decisions> decisions = new TreeMap<>();

    /** Numbers of the open slots that take decisions. */
    private final BitSet approximate = new BitSet();

    /** Open slots by number, each with its engine hashes. */
    private final Map<Integer, Map<Long, Residency>> slots = new TreeMap<>();

    /** Numbers of the open slots. */
    private final BitSet taken = new BitSet();

    /** How often each number was given back. */
    private final int[] incarnations = new int[MAX_SLOTS];

    private final HybridSlots hybrids = new HybridSlots(ReferencePrefixIndex::localHashes);

    private long moves;

    private boolean closed;

    public ReferencePrefixIndex() {
        this(DEFAULT_ORPHAN_LIMIT);
    }

    /**
     * @param orphanLimit most (slot, block) pairs kept for want of a parent; the oldest go first
     */
    public ReferencePrefixIndex(long orphanLimit) {
        this(orphanLimit, DecisionLimits.DEFAULT);
    }

    /**
     * @param orphanLimit most (slot, block) pairs kept for want of a parent; the oldest go first
     */
    public ReferencePrefixIndex(long orphanLimit, DecisionLimits decisionLimits) {
        this.orphans = new OrphanEvents(orphanLimit);
        this.decisionLimits = decisionLimits;
    }

    @Override
    public WorkerSlot open(int domain) {
        return open(domain, false);
    }

    @Override
    public WorkerSlot openApproximate(int domain) {
        return open(domain, true);
    }

    private WorkerSlot open(int domain, boolean takesDecisions) {
        if (domain < 0 || domain >= MAX_DOMAINS) {
            throw new IllegalArgumentException(
                    "domain " + domain + " is not from 0 to " + (MAX_DOMAINS - 1));
        }
        lock.writeLock().lock();
        try {
            requireOpen();
            int number = taken.nextClearBit(0);
            if (number >= MAX_SLOTS) {
                throw new IllegalStateException(
                        "all " + MAX_SLOTS + " slots of the index are taken; remove a worker");
            }
            taken.set(number);
            approximate.set(number, takesDecisions);
            slots.put(number, new HashMap<>());
            return WorkerSlot.of(number, incarnations[number]);
        } finally {
            lock.writeLock().unlock();
        }
    }

    @Override
    public void close(WorkerSlot slot) {
        lock.writeLock().lock();
        try {
            requireOpen();
            Map<Long, Residency> held = held(slot);
            if (held == null) {
                throw new IllegalStateException("slot " + slot.index() + " is not open");
            }
            clear(slot.index(), held, ALL_TIERS);
            approximate.clear(slot.index());
            slots.remove(slot.index());
            taken.clear(slot.index());
            incarnations[slot.index()]++;
            hybrids.close(slot);
        } finally {
            lock.writeLock().unlock();
        }
    }

    @Override
    public HybridSlots hybrids() {
        return hybrids;
    }

    @Override
    public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
        List<Block> content = blocks(prompt);
        lock.writeLock().lock();
        try {
            requireOpen();
            if (held(slot) == null || !approximate.get(slot.index())) {
                throw new IllegalStateException(
                        "slot " + slot.index() + " is not open, or takes no decisions");
            }
            return decisionsOf(slot.index()).decide(slot.index(), content, nowMillis);
        } finally {
            lock.writeLock().unlock();
        }
    }

    private Decisions decisionsOf(int slot) {
        return decisions.computeIfAbsent(
                slot / DecisionLimits.SLOTS, group -> new Decisions(tree, decisionLimits));
    }

    @Override
    public long expire(long nowMillis) {
        lock.writeLock().lock();
        try {
            requireOpen();
            return decisions.values().stream()
                    .mapToLong(d -> d.expire(nowMillis, Long.MAX_VALUE))
                    .sum();
        } finally {
            lock.writeLock().unlock();
        }
    }

    @Override
    public ApplyResult apply(List<? extends PrefixEvent> events) {
        lock.writeLock().lock();
        try {
            requireOpen();
            ApplyResult sum = ApplyResult.NONE;
            for (PrefixEvent event : events) {
                sum = sum.plus(apply(event));
            }
            return sum;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Engine hashes of a slot that is open in this incarnation, else null. */
    private @Nullable Map<Long, Residency> held(WorkerSlot slot) {
        int number = slot.index();
        return slot.equals(WorkerSlot.of(number, incarnations[number])) ? slots.get(number) : null;
    }

    private ApplyResult apply(PrefixEvent event) {
        int slot = event.slot().index();
        Map<Long, Residency> held = held(event.slot());
        if (held == null) {
            return new ApplyResult(0, 0, 0, 1);
        }
        if (approximate.get(slot)) {
            return applyToApproximate(slot, event);
        }
        return switch (event) {
            case PrefixEvent.Stored stored ->
                    stored.blockSize() > MAX_BLOCK_SIZE
                            ? new ApplyResult(0, 0, 0, 1)
                            : store(slot, held, stored);
            case PrefixEvent.Removed removed ->
                    removed.hashes().length == 0 ? ApplyResult.NONE : remove(slot, held, removed);
            case PrefixEvent.Cleared c -> {
                clear(slot, held, c.tier() == null ? ALL_TIERS : 1 << c.tier().number());
                yield new ApplyResult(1, 0, 0, 0);
            }
        };
    }

    private ApplyResult applyToApproximate(int slot, PrefixEvent event) {
        if (event instanceof PrefixEvent.Removed r && r.hashes().length == 0) {
            return ApplyResult.NONE;
        }
        if (!(event instanceof PrefixEvent.Cleared c)) {
            return new ApplyResult(0, 0, 0, 1);
        }
        if (c.tier() == null || c.tier() == Tier.GPU) {
            decisionsOf(slot).clear(slot);
        }
        return new ApplyResult(1, 0, 0, 0);
    }

    private ApplyResult store(int slot, Map<Long, Residency> held, PrefixEvent.Stored event) {
        List<Block> content = blocks(event.tokens(), event.blockSize(), event.space());
        Residency parent = event.hasParent() ? held.get(event.parent()) : null;
        Orphan arrived =
                new Orphan(
                        new OrphanEvents.Key(slot, event.parent()),
                        event.tier(),
                        event.hashes(),
                        content);
        if (event.hasParent() && parent == null) {
            orphans.add(arrived);
            return new ApplyResult(0, 1, 0, 0);
        }
        Deque<Orphan> ready = new ArrayDeque<>();
        place(slot, held, parent == null ? tree.root() : parent.node, arrived, ready);
        while (!ready.isEmpty()) {
            Orphan orphan = ready.removeFirst();
            Residency found = held.get(orphan.key().parent());
            if (found == null) {
                orphans.add(orphan); // an orphan before this one moved the parent away
            } else {
                place(slot, held, found.node, orphan, ready);
            }
        }
        return new ApplyResult(1, 0, 0, 0);
    }

    private void place(
            int slot, Map<Long, Residency> held, Node parent, Orphan event, Deque<Orphan> ready) {
        // The way down is made first: a block that moves must not prune the nodes below it.
        Node[] path = new Node[event.hashes().length];
        Node node = parent;
        for (int i = 0; i < path.length; i++) {
            node = tree.child(node, event.content().get(i));
            path[i] = node;
        }
        List<Residency> leaving = new ArrayList<>();
        for (int i = 0; i < path.length; i++) {
            if (!event.isStruck(i)) {
                Residency old = held.get(event.hashes()[i]);
                if (old != null && old.node != path[i]) {
                    leaving.add(old);
                    old = null;
                }
                if (old == null) {
                    old = new Residency(slot, path[i]);
                    held.put(event.hashes()[i], old);
                    tree.hold(old);
                }
                old.tiers |= 1 << event.tier().number();
            }
        }
        leaving.forEach(tree::release);
        moves += leaving.size();
        tree.prune(node);
        for (int i = 0; i < path.length; i++) {
            if (!event.isStruck(i)) {
                ready.addAll(orphans.take(slot, event.hashes()[i]));
            }
        }
    }

    private ApplyResult remove(int slot, Map<Long, Residency> held, PrefixEvent.Removed event) {
        int bit = 1 << event.tier().number();
        long unknown = 0;
        for (long hash : event.hashes()) {
            boolean waiting = orphans.strike(slot, event.tier(), hash);
            Residency residency = held.get(hash);
            if (residency != null && (residency.tiers & bit) != 0) {
                residency.tiers &= ~bit;
                if (residency.tiers == 0) {
                    held.remove(hash);
                    tree.release(residency);
                }
            } else if (!waiting) {
                unknown++;
            }
        }
        return new ApplyResult(1, 0, unknown, 0);
    }

    private void clear(int slot, Map<Long, Residency> held, int tiers) {
        if (approximate.get(slot)) {
            decisionsOf(slot).clear(slot);
        }
        for (Iterator<Residency> it = held.values().iterator(); it.hasNext(); ) {
            Residency residency = it.next();
            residency.tiers &= ~tiers;
            if (residency.tiers == 0) {
                it.remove();
                tree.release(residency);
            }
        }
        orphans.clear(slot, tiers);
    }

    @Override
    public PrefixMatch match(PrefixQuery query) {
        List<Block> content = blocks(query);
        lock.readLock().lock();
        try {
            requireOpen();
            TreeMap<Integer, int[]> depths = new TreeMap<>();
            for (int tier = 0; tier < Tier.COUNT; tier++) {
                measure(content, tier, depths);
            }
            return hybrids.usable(
                    query,
                    new PrefixMatch(
                            query.blockSize(),
                            content.size(),
                            depths.keySet().stream().mapToInt(Integer::intValue).toArray(),
                            depths.values().stream().flatMapToInt(Arrays::stream).toArray()));
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Walks down as long as some slot has every block so far in {@code tier} or a faster one. */
    private void measure(List<Block> content, int tier, Map<Integer, int[]> depths) {
        int fastEnough = (1 << (tier + 1)) - 1;
        Set<Integer> alive = new TreeSet<>(slots.keySet());
        Node node = tree.root();
        for (int i = 0; i < content.size() && !alive.isEmpty(); i++) {
            @Nullable Node next = node.children.get(content.get(i));
            if (next == null) {
                return;
            }
            alive.removeIf(slot -> (next.tiers(slot) & fastEnough) == 0);
            for (int slot : alive) {
                depths.computeIfAbsent(slot, s -> new int[Tier.COUNT])[tier] = i + 1;
            }
            node = next;
        }
    }

    @Override
    public SlotBlocks slotBlocks() {
        lock.readLock().lock();
        try {
            requireOpen();
            long[] blocks = new long[taken.length() * Tier.COUNT];
            Deque<Node> left = new ArrayDeque<>(List.of(tree.root()));
            while (!left.isEmpty()) {
                Node node = left.removeFirst();
                left.addAll(node.children.values());
                for (int slot : node.holders.keySet()) {
                    int tiers = node.tiers(slot);
                    for (int tier = 0; tier < Tier.COUNT; tier++) {
                        blocks[slot * Tier.COUNT + tier] += tiers >> tier & 1;
                    }
                }
            }
            return new SlotBlocks(blocks);
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public IndexStats stats() {
        lock.readLock().lock();
        try {
            requireOpen();
            long residencies = 0;
            for (Map<Long, Residency> held : slots.values()) {
                Set<Node> places = new HashSet<>();
                held.values().forEach(r -> places.add(r.node));
                residencies += places.size();
            }
            residencies += decisions.values().stream().mapToLong(Decisions::pairs).sum();
            return new IndexStats(
                    slots.size(),
                    tree.size(),
                    residencies,
                    0,
                    orphans.blocks(),
                    0,
                    0,
                    moves,
                    0,
                    orphans.givenUp(),
                    0,
                    decisions.values().stream().mapToLong(Decisions::alive).sum(),
                    decisions.values().stream().mapToLong(Decisions::endedByTime).sum(),
                    decisions.values().stream().mapToLong(Decisions::endedByCapacity).sum());
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            closed = true;
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the prefix index is closed");
        }
    }

    /** Of hybrid slots alone: everything else is compared token by token. */
    private static long[] localHashes(int[] tokens, int blocks, int blockSize, PrefixSpace space) {
        long seed = SideBlocks.next(space.lora().hashCode(), space.salt().hashCode());
        long[] hashes = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            hashes[i] = seed;
            for (int t = i * blockSize; t < (i + 1) * blockSize; t++) {
                hashes[i] = SideBlocks.next(hashes[i], tokens[t]);
            }
        }
        return hashes;
    }

    private static List<Block> blocks(PrefixQuery query) {
        if (query.blockSize() > MAX_BLOCK_SIZE) {
            throw new IllegalArgumentException(
                    "block size " + query.blockSize() + " is above the limit " + MAX_BLOCK_SIZE);
        }
        if (query.hashes() != null) {
            throw new IllegalArgumentException("this index compares tokens, it knows no hashes");
        }
        return blocks(
                Arrays.copyOf(query.tokens(), query.blocks() * query.blockSize()),
                query.blockSize(),
                query.space());
    }

    private static List<Block> blocks(int[] tokens, int blockSize, PrefixSpace space) {
        List<Block> blocks = new ArrayList<>(tokens.length / blockSize);
        for (int from = 0; from + blockSize <= tokens.length; from += blockSize) {
            blocks.add(new Block(space, Arrays.copyOfRange(tokens, from, from + blockSize)));
        }
        return blocks;
    }
}
