package io.warmpath.sim.cache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Paged KV cache of one rank: a tree of full blocks over GPU memory and, optionally, host memory.
 *
 * <p>One thread. Every change is reported as a {@link CacheEvent} before the call returns; replayed
 * in order into a set, the events give exactly {@link #contents}.
 *
 * <p>Rules, as HiCache with write-through has them:
 *
 * <ul>
 *   <li>A GPU block's ancestors are on the GPU, a host block's ancestors on the host: both tiers
 *       lose leaves first, least recently used first, and no prefix ever has a hole.
 *   <li>Every block stored on the GPU is copied to the host when there is room; it is reported
 *       there only when the copy has landed, and stays on the GPU until then.
 *   <li>The host gives up only blocks that the GPU no longer holds.
 *   <li>Pages of a pool come to the host first, behind what is there already.
 *   <li>A pinned block is held in host memory until its time is over; the GPU may give it up.
 *   <li>Space of a request (prompt and answer) is reserved when it starts, so nothing is preempted.
 * </ul>
 *
 * <p>One thing of vLLM is not imitated: it keeps a second copy of a repeated prompt's last block.
 */
public final class KvCache {
    /** What a pin has come to: blocks from the prompt's start on, and why no more of them. */
    public record Pinned(int blocks, @Nullable String rejected) {}

    private static final Comparator<Block> OLDEST_LEAF_FIRST =
            Comparator.<Block>comparingLong(b -> b.lastUse)
                    .thenComparingInt(b -> -b.depth)
                    .thenComparingLong(b -> b.serial);
    private static final Comparator<Block> LEAST_IMPORTANT_LEAF_FIRST =
            Comparator.<Block>comparingInt(b -> b.priority).thenComparing(OLDEST_LEAF_FIRST);

    private final int blockSize;
    private final int gpuBlocks;
    private final int hostBlocks;
    private final BlockHasher hasher;
    private final HostLink link;
    private final Consumer<CacheEvent> events;
    private final Map<CacheSpace, Block> roots = new HashMap<>();
    private final TreeSet<Block> gpuLeaves;
    private final TreeSet<Block> hostLeaves;
    private final PinnedBlocks pins;
    private int gpuFree;
    private int hostFree;
    private int unreferenced;
    private int leases;
    private int parked;
    private int epoch;
    private long tick;
    private long serial;

    /** {@code hostBlocks}: 0 when there is no host tier. {@code policy}: what is kept longest. */
    public KvCache(
            int blockSize,
            int gpuBlocks,
            int hostBlocks,
            BlockHasher hasher,
            HostLink link,
            CachePolicy policy,
            Consumer<CacheEvent> events) {
        this.blockSize = blockSize;
        this.gpuBlocks = gpuBlocks;
        this.hostBlocks = hostBlocks;
        this.hasher = hasher;
        this.link = link;
        this.events = events;
        this.gpuFree = gpuBlocks;
        this.hostFree = hostBlocks;
        Comparator<Block> order =
                policy.byPriority() ? LEAST_IMPORTANT_LEAF_FIRST : OLDEST_LEAF_FIRST;
        this.gpuLeaves = new TreeSet<>(order);
        this.hostLeaves = new TreeSet<>(order);
        this.pins = new PinnedBlocks(policy.maxPinnedBlocks(), policy.nanoTime());
    }

    /**
     * Room for a request, and the cached blocks it can start from; null when it has to wait for
     * others to end. At least the prompt's last token is always computed.
     *
     * @param tokens the prompt, more may follow
     * @param totalLength tokens of prompt and answer together
     */
    public @Nullable Lease acquire(
            int[] tokens,
            int promptLength,
            int totalLength,
            CacheSpace space,
            @Nullable String sessionId) {
        return acquire(tokens, promptLength, totalLength, space, sessionId, 0);
    }

    /** {@code priority}: of the request; of its blocks, unless they have a higher one. */
    public @Nullable Lease acquire(
            int[] tokens,
            int promptLength,
            int totalLength,
            CacheSpace space,
            @Nullable String sessionId,
            int priority) {
        Block root = roots.get(space);
        List<Block> onGpu = new ArrayList<>();
        List<Block> onHost = new ArrayList<>();
        if (root != null) {
            find(root, tokens, (promptLength - 1) / blockSize, onGpu, onHost);
        }
        int need = blocksFor(totalLength) - onGpu.size();
        int spare = gpuFree + unreferenced;
        for (Block b : onGpu) {
            spare -= b.refs == 0 ? 1 : 0;
        }
        if (spare < need) {
            return null;
        }
        if (root == null) {
            root = Block.root(space);
            roots.put(space, root);
        }
        root.refs++;
        leases++;
        onGpu.forEach(this::lock);
        onHost.forEach(this::hold);
        onGpu.forEach(b -> hit(b, sessionId, priority));
        onHost.forEach(b -> hit(b, sessionId, priority));
        evict(need - gpuFree);
        gpuFree -= need;
        return new Lease(root, sessionId, priority, onGpu, onHost, need);
    }

    /**
     * Reserves host memory for the pages of a prompt that this rank lacks and the pool has; null
     * when there are none, or no room. Whoever prefetches has to call {@link Prefetch#landed}.
     */
    public @Nullable Prefetch prefetch(
            int[] tokens, int promptLength, CacheSpace space, PagePool pool) {
        if (hostBlocks == 0 || !space.equals(CacheSpace.NONE)) {
            return null;
        }
        Block root = roots.computeIfAbsent(space, Block::root);
        root.refs++;
        List<Block> path = new ArrayList<>();
        int limit = (promptLength - 1) / blockSize;
        Block at = root;
        for (int i = 0; i < limit; i++) {
            Block next = at.children.get(content(tokens, i));
            if (next == null || !next.host) {
                break; // host memory has no holes: what is on the GPU alone ends it
            }
            path.add(next);
            at = next;
        }
        path.forEach(this::hold);
        List<Block.Content> wanted = new ArrayList<>();
        byte[] parent = at.isRoot() ? null : at.digest;
        for (int i = path.size(); i < limit; i++) {
            Block.Content content = content(tokens, i);
            byte[] digest = hasher.digest(parent, content.tokens(), space);
            boolean here = wanted.isEmpty() && at.children.containsKey(content);
            if (here || !pool.has(digest) || (hostFree == 0 && !evictFromHost())) {
                break;
            }
            hostFree--;
            wanted.add(content);
            parent = digest;
        }
        Prefetch prefetch = new Prefetch(root, path, wanted);
        if (wanted.isEmpty()) {
            prefetch.landed();
            return null;
        }
        return prefetch;
    }

    /**
     * Pins the cached blocks of these tokens, from the first one on, in host memory; those that are
     * not there yet are copied. A hit begins a pin's time anew.
     */
    public Pinned pin(int[] tokens, CacheSpace space, long ttlNanos) {
        endExpiredPins();
        List<Block> path = new ArrayList<>();
        List<Block> run = new ArrayList<>();
        String rejected = null;
        Block at = roots.get(space);
        for (int i = 0; at != null && i < tokens.length / blockSize; i++) {
            Block next = at.children.get(content(tokens, i));
            if (next == null) {
                break;
            }
            if (!pins.has(next)) {
                if (pins.full()) {
                    rejected =
                            "Pin budget exhausted (%s/%s tokens pinned)"
                                    .formatted(pins.size() * blockSize, pins.most() * blockSize);
                    break;
                }
                if (!next.host && !next.copying) {
                    if (hostFree == 0 && !evictFromHost()) {
                        rejected = "Host memory is full";
                        break;
                    }
                    hostFree--;
                    next.copying = true;
                    run.add(next);
                }
                hold(next);
            }
            pins.add(next, ttlNanos);
            path.add(next);
            at = next;
        }
        copy(path, run);
        return new Pinned(path.size(), rejected);
    }

    /** Blocks that are pinned now. */
    public int pinned() {
        endExpiredPins();
        return pins.size();
    }

    private void endExpiredPins() {
        pins.takeExpired().forEach(this::unhold);
    }

    private void hit(Block b, @Nullable String sessionId, int priority) {
        b.usedBy(sessionId);
        b.priority = Math.max(b.priority, priority);
        pins.hit(b);
    }

    /**
     * Drops what only requests of this session have used and nobody needs now, host copies
     * included. Looks at every block.
     *
     * @return false while some of it is still needed
     */
    public boolean dropSession(String sessionId) {
        List<Block> own = new ArrayList<>();
        List<Block> open = new ArrayList<>(roots.values());
        while (!open.isEmpty()) {
            Block b = open.removeLast();
            if (sessionId.equals(b.owner)) {
                own.add(b);
            }
            open.addAll(b.children.values());
        }
        List<byte[]> fromGpu = new ArrayList<>();
        List<byte[]> fromHost = new ArrayList<>();
        boolean all = true;
        own.sort(Comparator.comparingInt(b -> -b.depth));
        for (Block b : own) {
            if (b.gpu && gpuLeaves.remove(b)) {
                leaveGpu(b);
                fromGpu.add(b.digest);
            }
            if (b.host && !b.gpu && hostLeaves.remove(b)) {
                leaveHost(b);
                fromHost.add(b.digest);
            }
            all &= (!b.gpu && !b.host) || pins.has(b);
        }
        if (!fromGpu.isEmpty()) {
            events.accept(new CacheEvent.Removed(Medium.GPU, fromGpu));
        }
        if (!fromHost.isEmpty()) {
            events.accept(new CacheEvent.Removed(Medium.HOST, fromHost));
        }
        return all;
    }

    /**
     * Forgets everything, what is parked too; refused (false) while requests run. Copies under way
     * are dropped.
     */
    public boolean clear() {
        if (leases > 0) {
            return false;
        }
        epoch++;
        roots.clear();
        gpuLeaves.clear();
        hostLeaves.clear();
        gpuFree = gpuBlocks;
        hostFree = hostBlocks;
        unreferenced = 0;
        parked = 0;
        pins.clear();
        events.accept(new CacheEvent.Cleared());
        return true;
    }

    /** Blocks that a sequence of this length occupies. */
    public int blocksFor(int length) {
        return (length + blockSize - 1) / blockSize;
    }

    /** GPU blocks in use: cached ones and those reserved for running requests. */
    public int gpuUsed() {
        return gpuBlocks - gpuFree;
    }

    /** Cached GPU blocks that no request needs. */
    public int gpuEvictable() {
        return unreferenced;
    }

    /** GPU blocks outside the tree that parked leases keep. */
    public int gpuParked() {
        return parked;
    }

    public int hostUsed() {
        return hostBlocks - hostFree;
    }

    public int gpuBlocks() {
        return gpuBlocks;
    }

    public int blockSize() {
        return blockSize;
    }

    /** Digests of all blocks in this medium, parents before children. */
    public List<byte[]> contents(Medium medium) {
        List<byte[]> found = new ArrayList<>();
        List<Block> open = new ArrayList<>(roots.values());
        while (!open.isEmpty()) {
            Block b = open.removeLast();
            if (!b.isRoot() && (medium == Medium.GPU ? b.gpu : b.host)) {
                found.add(b.digest);
            }
            open.addAll(b.children.values());
        }
        return found;
    }

    private void find(Block root, int[] tokens, int limit, List<Block> onGpu, List<Block> onHost) {
        Block at = root;
        for (int i = 0; i < limit; i++) {
            Block next = at.children.get(content(tokens, i));
            if (next == null) {
                return;
            }
            (next.gpu ? onGpu : onHost).add(next);
            at = next;
        }
    }

    private Block.Content content(int[] tokens, int index) {
        return new Block.Content(
                Arrays.copyOfRange(tokens, index * blockSize, (index + 1) * blockSize));
    }

    private void evict(int count) {
        List<byte[]> removed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Block b = gpuLeaves.removeFirst();
            leaveGpu(b);
            removed.add(b.digest);
        }
        if (!removed.isEmpty()) {
            events.accept(new CacheEvent.Removed(Medium.GPU, removed));
        }
    }

    private boolean evictFromHost() {
        endExpiredPins();
        Block b = hostLeaves.pollFirst();
        if (b == null) {
            return false;
        }
        leaveHost(b);
        events.accept(new CacheEvent.Removed(Medium.HOST, List.of(b.digest)));
        return true;
    }

    private void leaveGpu(Block b) {
        b.gpu = false;
        unreferenced--;
        gpuFree++;
        Block parent = parentOf(b);
        parent.gpuChildren--;
        if (b.host) {
            offerHostLeaf(b);
        } else {
            detach(b);
        }
        offerGpuLeaf(parent);
    }

    private void leaveHost(Block b) {
        b.host = false;
        hostFree++;
        Block parent = parentOf(b);
        parent.hostChildren--;
        detach(b);
        offerHostLeaf(parent);
    }

    private void detach(Block b) {
        Block parent = parentOf(b);
        parent.children.remove(b.content);
        dropIfUnused(parent);
    }

    private void dropIfUnused(Block root) {
        if (root.isRoot() && root.refs == 0 && root.children.isEmpty()) {
            roots.remove(root.space);
        }
    }

    private void lock(Block b) {
        if (b.refs++ == 0) {
            unreferenced--;
            gpuLeaves.remove(b);
        }
    }

    private void unlock(List<Block> path) {
        tick++;
        for (Block b : path.reversed()) {
            if (--b.refs == 0) {
                b.lastUse = tick;
                unreferenced++;
                offerGpuLeaf(b);
            }
        }
    }

    private void hold(Block b) {
        b.hostRefs++;
        hostLeaves.remove(b);
    }

    private void unhold(Block b) {
        b.hostRefs--;
        offerHostLeaf(b);
    }

    private void offerGpuLeaf(Block b) {
        if (!b.isRoot() && b.gpu && b.refs == 0 && b.gpuChildren == 0) {
            gpuLeaves.add(b);
        }
    }

    private void offerHostLeaf(Block b) {
        if (!b.isRoot() && b.host && !b.gpu && b.hostRefs == 0 && b.hostChildren == 0) {
            hostLeaves.add(b);
        }
    }

    private void arriveOnGpu(Block b) {
        hostLeaves.remove(b);
        b.gpu = true;
        b.refs = 1;
        parentOf(b).gpuChildren++;
    }

    /**
     * Sends GPU blocks to the host, where their room is taken already.
     *
     * @param path from the prompt's start on, {@code run} among it
     */
    private void copy(List<Block> path, List<Block> run) {
        if (run.isEmpty()) {
            return;
        }
        // The run ends where it does in the path, so this locks every ancestor too.
        List<Block> locked = new ArrayList<>(path.subList(0, path.indexOf(run.getLast()) + 1));
        locked.forEach(this::lock);
        int startedIn = epoch;
        link.copy(run.size() * blockSize, () -> landed(run, locked, startedIn));
    }

    private void landed(List<Block> run, List<Block> locked, int startedIn) {
        if (startedIn != epoch) {
            return;
        }
        for (Block b : run) {
            b.copying = false;
            b.host = true;
            parentOf(b).hostChildren++;
        }
        emitStored(Medium.HOST, run);
        unlock(locked);
    }

    private void emitStored(Medium medium, List<Block> run) {
        if (run.isEmpty()) {
            return;
        }
        Block first = run.getFirst();
        int[] tokens = new int[run.size() * blockSize];
        List<byte[]> digests = new ArrayList<>(run.size());
        for (int i = 0; i < run.size(); i++) {
            System.arraycopy(run.get(i).content.tokens(), 0, tokens, i * blockSize, blockSize);
            digests.add(run.get(i).digest);
        }
        events.accept(
                new CacheEvent.Stored(
                        medium,
                        first.parentDigest(),
                        digests,
                        tokens,
                        blockSize,
                        first.space,
                        first.sessionId));
    }

    private Block child(
            Block parent, Block.Content content, CacheSpace space, @Nullable String sessionId) {
        byte[] digest =
                hasher.digest(parent.isRoot() ? null : parent.digest, content.tokens(), space);
        Block b = new Block(parent, content, digest, space, sessionId, serial++);
        parent.children.put(content, b);
        return b;
    }

    private static Block parentOf(Block b) {
        if (b.parent == null) {
            throw new IllegalStateException("a root has no parent and is never cached");
        }
        return b.parent;
    }

    /** A running request's hold on its blocks. The cache's thread only. */
    public final class Lease {
        private final Block root;
        private final @Nullable String sessionId;
        private final int priority;
        private final List<Block> path;
        private final List<Block> loading;
        private final int gpuHits;
        private final int hostHits;
        private final int startedIn = epoch;
        private int reserved;
        private int backedUp;
        private boolean isParked;
        private boolean released;

        private Lease(
                Block root,
                @Nullable String sessionId,
                int priority,
                List<Block> path,
                List<Block> loading,
                int reserved) {
            this.root = root;
            this.sessionId = sessionId;
            this.priority = priority;
            this.path = path;
            this.loading = loading;
            this.gpuHits = path.size();
            this.hostHits = loading.size();
            this.reserved = reserved;
        }

        /** Blocks of the prompt found on the GPU. */
        public int gpuHits() {
            return gpuHits;
        }

        /** Blocks after those, found in host memory only. */
        public int hostHits() {
            return hostHits;
        }

        /** Full blocks known to the cache so far. */
        public int blocks() {
            return path.size();
        }

        /** The host hits have arrived on the GPU. */
        public void loaded() {
            List<Block> run = new ArrayList<>();
            for (Block b : loading) {
                unhold(b);
                if (b.gpu) {
                    mergeInto(b);
                } else {
                    arriveOnGpu(b);
                    reserved--;
                    run.add(b);
                }
                path.add(b);
            }
            loading.clear();
            emitStored(Medium.GPU, run);
        }

        /** The first {@code length} tokens are computed: their full blocks become cached. */
        public void commit(int[] tokens, int length) {
            List<Block> run = new ArrayList<>();
            for (int i = path.size(); i < length / blockSize; i++) {
                Block at = path.isEmpty() ? root : path.getLast();
                Block.Content content = content(tokens, i);
                Block known = at.children.get(content);
                if (known != null && known.gpu) {
                    // Another request computed the same block meanwhile; one copy is kept.
                    emitStored(Medium.GPU, run);
                    run.clear();
                    mergeInto(known);
                    path.add(known);
                    continue;
                }
                Block b = known == null ? create(at, content) : known;
                arriveOnGpu(b);
                reserved--;
                run.add(b);
                path.add(b);
            }
            emitStored(Medium.GPU, run);
            backUp();
        }

        /**
         * The request is over, its KV is not: what it has locked stays locked, and what lies behind
         * that stays reserved, unknown to the tree and out of reach of any eviction, until the
         * lease is resumed or released.
         *
         * @param length tokens whose KV is kept
         */
        public void park(int length) {
            int kept = blocksFor(length) - path.size();
            gpuFree += reserved - kept;
            reserved = kept;
            isParked = true;
            parked += kept;
            leases--;
        }

        /** False once the cache was cleared: nothing is held any more. */
        public boolean holds() {
            return startedIn == epoch;
        }

        /** Tokens outside the tree that are held while it is parked. */
        public int parkedTokens() {
            return isParked && holds() ? reserved * blockSize : 0;
        }

        /**
         * The next request goes on where the last one ended.
         *
         * @param totalLength tokens of all requests so far, its own prompt and answer included
         * @return false when it has to wait for others to end
         */
        public boolean resume(int totalLength) {
            int need = blocksFor(totalLength) - path.size() - reserved;
            if (gpuFree + unreferenced < need) {
                return false;
            }
            parked -= reserved;
            isParked = false;
            leases++;
            evict(need - gpuFree);
            gpuFree -= need;
            reserved += need;
            return true;
        }

        /** The request is over; what it committed stays cached until evicted. */
        public void release() {
            if (released) {
                throw new IllegalStateException("released twice");
            }
            released = true;
            if (isParked) {
                if (!holds()) {
                    return;
                }
                parked -= reserved;
                leases++;
            }
            unlock(path);
            loading.forEach(KvCache.this::unhold);
            gpuFree += reserved;
            leases--;
            root.refs--;
            dropIfUnused(root);
        }

        private Block create(Block at, Block.Content content) {
            Block b = child(at, content, root.space, sessionId);
            b.priority = priority;
            return b;
        }

        private void mergeInto(Block known) {
            lock(known);
            hit(known, sessionId, priority);
            reserved--;
            gpuFree++;
        }

        /** Write-through: what the host lacks is copied, as far as there is room. */
        private void backUp() {
            if (hostBlocks == 0) {
                return;
            }
            List<Block> run = new ArrayList<>();
            for (; backedUp < path.size(); backedUp++) {
                Block b = path.get(backedUp);
                if (b.host || b.copying) {
                    copy(path, run);
                    run = new ArrayList<>();
                    continue;
                }
                if (hostFree == 0 && !evictFromHost()) {
                    break;
                }
                hostFree--;
                b.copying = true;
                run.add(b);
            }
            copy(path, run);
        }
    }

    /** Pages on their way from the pool to host memory. The cache's thread only. */
    public final class Prefetch {
        private final Block root;
        private final List<Block> path;
        private final List<Block.Content> wanted;
        private final int startedIn = epoch;

        private Prefetch(Block root, List<Block> path, List<Block.Content> wanted) {
            this.root = root;
            this.path = path;
            this.wanted = wanted;
        }

        public int blocks() {
            return wanted.size();
        }

        /** The bytes are there. What another request has brought meanwhile is kept once. */
        public void landed() {
            if (startedIn != epoch) {
                return; // the cache was cleared
            }
            List<Block> run = new ArrayList<>();
            Block at = path.isEmpty() ? root : path.getLast();
            for (int i = 0; i < wanted.size(); i++) {
                Block.Content content = wanted.get(i);
                Block known = at.children.get(content);
                if (known != null && (known.host || known.copying)) {
                    hostFree++;
                    if (!known.host) {
                        // Its copy is on its way; the rest would lie behind a hole.
                        hostFree += wanted.size() - i - 1;
                        break;
                    }
                    emitStored(Medium.HOST, run);
                    run.clear();
                    at = known;
                    continue;
                }
                Block b = known == null ? child(at, content, root.space, null) : known;
                if (known == null) {
                    b.lastUse = tick; // just wanted by somebody
                }
                b.host = true;
                at.hostChildren++;
                hostLeaves.remove(at);
                run.add(b);
                at = b;
            }
            emitStored(Medium.HOST, run);
            path.forEach(KvCache.this::unhold);
            offerHostLeaf(at);
            root.refs--;
            dropIfUnused(root);
        }
    }
}
