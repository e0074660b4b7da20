package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.PromptIndex;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

/**
 * The C++ prefix index behind the port: one native call per query, one per batch of events. Threads
 * as the port says. A call takes microseconds, allocates only its result, and may run on an event
 * loop. Buffers are per thread and off-heap; see {@link CallGuard} for how {@link #close()} waits
 * for running calls without making them pay for a lock.
 */
public final class NativePrefixIndex implements PrefixIndex, IndexSnapshots {
    /** The one version of the library's functions that this goes with. */
    public static final int ABI_VERSION = KvLayout.ABI_VERSION;

    /** Let the library choose how many blocks may wait for their parent. */
    public static final long DEFAULT_ORPHAN_LIMIT = 0;

    /** It may grow as it likes. */
    public static final long NO_BYTE_LIMIT = 0;

    /** Let the library choose how many blocks stay known though nobody holds them. */
    static final int DEFAULT_GHOST_PERCENT = 0;

    /** A block that nobody holds is forgotten at once. */
    static final int NO_GHOSTS = 101;

    /** One for all: the request's candidates say whose depths count (ADR-0002). */
    static final int NAME_SPACE = 0;

    /** A batch above this goes down in several calls, in order. */
    private static final long BATCH_BYTES = 512 << 10;

    /** Salts come from clients: the cache must not grow with what they think up. */
    private static final int MAX_CACHED_SEEDS = 4096;

    private final long handle;
    private final CallGuard guard = new CallGuard();
    private final HybridSlots hybrids = new HybridSlots(this::localHashes);
    private final Map<PrefixSpace, Long> seeds = new ConcurrentHashMap<>();
    private final long plainSeed;

    /** Freed after the last call. */
    private final List<Long> memories = new CopyOnWriteArrayList<>();

    /**
     * Loads the library, if this process has not yet, and makes an empty index.
     *
     * @param library file or folder; empty takes the one in the jar. {@code
     *     -Dwarmpath.index.native-path} goes before both
     * @param orphanLimit most (slot, block) pairs kept for want of a parent, or {@link
     *     #DEFAULT_ORPHAN_LIMIT}
     * @throws NativeIndexException when there is no library, or one that does not fit
     */
    public NativePrefixIndex(Optional<Path> library, long orphanLimit) {
        this(library, orphanLimit, DEFAULT_GHOST_PERCENT, DecisionLimits.DEFAULT, NO_BYTE_LIMIT);
    }

    /** {@code decisions}: how long, and how much, approximate slots hold. */
    public NativePrefixIndex(Optional<Path> library, long orphanLimit, DecisionLimits decisions) {
        this(library, orphanLimit, DEFAULT_GHOST_PERCENT, decisions, NO_BYTE_LIMIT);
    }

    /**
     * @param maxBytes that what it knows may take, per 1,024 slots, or {@link #NO_BYTE_LIMIT}: then
     *     blocks that nobody holds are forgotten, those that wait for their parent are given up,
     *     and new ones are refused, in this order, until something leaves
     */
    public NativePrefixIndex(
            Optional<Path> library, long orphanLimit, DecisionLimits decisions, long maxBytes) {
        this(library, orphanLimit, DEFAULT_GHOST_PERCENT, decisions, maxBytes);
    }

    /**
     * @param ghostPercent part of all blocks that may stay known though nobody holds them, 1 to
     *     100; {@link #DEFAULT_GHOST_PERCENT} or {@link #NO_GHOSTS}
     */
    NativePrefixIndex(Optional<Path> library, long orphanLimit, int ghostPercent) {
        this(library, orphanLimit, ghostPercent, DecisionLimits.DEFAULT, NO_BYTE_LIMIT);
    }

    NativePrefixIndex(
            Optional<Path> library,
            long orphanLimit,
            int ghostPercent,
            DecisionLimits decisions,
            long maxBytes) {
        KvIndexLibrary.load(library);
        Scratch s = guard.enter();
        try {
            this.plainSeed = s.seed(PrefixSpace.NONE);
            Status.check(s.open(orphanLimit, ghostPercent, decisions, maxBytes), "kvi_open");
            this.handle = s.outLong(0);
        } finally {
            guard.exit(s);
        }
    }

    /** Valid between {@link #enter} and {@link #exit}. */
    long handle() {
        return handle;
    }

    @Override
    public WorkerSlot open(int domain) {
        return open(domain, false);
    }

    @Override
    public WorkerSlot openApproximate(int domain) {
        return open(domain, true);
    }

    private WorkerSlot open(int domain, boolean approximate) {
        if (domain < 0 || domain >= MAX_DOMAINS) {
            throw new IllegalArgumentException(
                    "domain " + domain + " is not from 0 to " + (MAX_DOMAINS - 1));
        }
        Scratch s = guard.enter();
        try {
            long out = s.out.address();
            Status.check(
                    approximate
                            ? KvIndexLibrary.kvi_slot_open_approximate(
                                    handle, domain, NAME_SPACE, out)
                            : KvIndexLibrary.kvi_slot_open(handle, domain, NAME_SPACE, out),
                    "kvi_slot_open");
            return new WorkerSlot(s.outInt(0));
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public void close(WorkerSlot slot) {
        Scratch s = guard.enter();
        try {
            int status = KvIndexLibrary.kvi_slot_close(handle, slot.value());
            if (status == KvLayout.E_SLOT) {
                throw new IllegalStateException("slot " + slot.index() + " is not open");
            }
            Status.check(status, "kvi_slot_close");
        } finally {
            guard.exit(s);
        }
        hybrids.close(slot);
    }

    @Override
    public HybridSlots hybrids() {
        return hybrids;
    }

    /**
     * {@inheritDoc}
     *
     * @throws NativeIndexException out of memory: what came before in the batch is applied, the
     *     rest is not, so the sources of the batch are to be repaired like after a gap
     */
    @Override
    public ApplyResult apply(List<? extends PrefixEvent> events) {
        Scratch s = guard.enter();
        try {
            EventPacker packer = new EventPacker(s.events, space -> seed(space, s));
            ApplyResult sum = ApplyResult.NONE;
            long refused = 0;
            for (PrefixEvent event : events) {
                if (event instanceof PrefixEvent.Removed r && r.hashes().length == 0) {
                    continue;
                }
                long size = EventPacker.sizeOf(event);
                if (size < 0) {
                    refused++;
                    continue;
                }
                if (packer.used() > 0 && packer.used() + size > BATCH_BYTES) {
                    sum = sum.plus(flush(packer, s));
                }
                packer.pack(event, size);
            }
            if (packer.used() > 0) {
                sum = sum.plus(flush(packer, s));
            }
            return refused == 0 ? sum : sum.plus(new ApplyResult(0, 0, 0, refused));
        } finally {
            guard.exit(s);
        }
    }

    private ApplyResult flush(EventPacker packer, Scratch s) {
        Status.check(
                KvIndexLibrary.kvi_apply(
                        handle, s.events.address(), packer.used(), s.out.address()),
                "kvi_apply");
        packer.reset();
        long bad = s.outLong(KvLayout.APPLIED_MALFORMED_AT);
        return new ApplyResult(
                s.outLong(KvLayout.APPLIED_APPLIED_AT),
                s.outLong(KvLayout.APPLIED_ORPHANS_AT),
                s.outLong(KvLayout.APPLIED_UNKNOWN_REMOVED_AT),
                s.outLong(KvLayout.APPLIED_IGNORED_AT) + bad);
    }

    @Override
    public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
        int blockSize = requireBlockSize(prompt);
        Scratch s = guard.enter();
        try {
            int blocks = prompt.blocks();
            s.sequence.ensure(8L * blocks);
            if (prompt.hashes() != null) {
                copyHashes(prompt.hashes(), s);
            } else if (blocks != 0) {
                hash(prompt.tokens(), blocks, blockSize, prompt.space(), s);
            }
            int status =
                    KvIndexLibrary.kvi_decide(
                            handle,
                            slot.value(),
                            s.sequence.address(),
                            blocks,
                            nowMillis,
                            s.out.address());
            if (status == KvLayout.E_SLOT) {
                throw new IllegalStateException(
                        "slot " + slot.index() + " is not open, or takes no decisions");
            }
            Status.check(status, "kvi_decide");
            return s.outLong(0);
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public long expire(long nowMillis) {
        Scratch s = guard.enter();
        try {
            Status.check(
                    KvIndexLibrary.kvi_expire(handle, nowMillis, s.out.address()), "kvi_expire");
            return s.outLong(0);
        } finally {
            guard.exit(s);
        }
    }

    private static int requireBlockSize(PrefixQuery query) {
        return requireBlockSize(query.blockSize());
    }

    static int requireBlockSize(int blockSize) {
        if (blockSize > MAX_BLOCK_SIZE) {
            throw new IllegalArgumentException(
                    "block size " + blockSize + " is above the limit " + MAX_BLOCK_SIZE);
        }
        return blockSize;
    }

    private long[] localHashes(int[] ids, int blocks, int blockSize, PrefixSpace space) {
        Scratch s = guard.enter();
        try {
            hash(ids, blocks, blockSize, space, s);
            return hashes(s, blocks);
        } finally {
            guard.exit(s);
        }
    }

    static long[] hashes(Scratch s, int count) {
        long[] hashes = new long[count];
        MemorySegment.copy(s.sequence.segment(), ValueLayout.JAVA_LONG, 0, hashes, 0, count);
        return hashes;
    }

    /** Writes the local hashes of the first {@code blocks} blocks to {@code s.sequence}. */
    void hash(int[] ids, int blocks, int blockSize, PrefixSpace space, Scratch s) {
        int tokens = blocks * blockSize;
        copyTokens(ids, tokens, s);
        s.sequence.ensure((long) Long.BYTES * blocks);
        long seed = seed(space, s);
        Status.check(
                KvIndexLibrary.kvi_hash(
                        s.tokens.address(),
                        tokens,
                        blockSize,
                        seed,
                        s.sequence.address(),
                        0,
                        blocks,
                        s.out.address()),
                "kvi_hash");
    }

    /** Copies the tokens of the complete blocks; answers how many. */
    private static int copyTokens(PrefixQuery query, Scratch s) {
        int tokens = query.blocks() * query.blockSize();
        copyTokens(query.tokens(), tokens, s);
        return tokens;
    }

    private static void copyTokens(int[] ids, int count, Scratch s) {
        s.tokens.ensure((long) Integer.BYTES * count);
        MemorySegment.copy(ids, 0, s.tokens.segment(), ValueLayout.JAVA_INT, 0, count);
    }

    @Override
    public PrefixMatch match(PrefixQuery query) {
        return hybrids.usable(query, held(query));
    }

    private PrefixMatch held(PrefixQuery query) {
        int blockSize = requireBlockSize(query);
        Scratch s = guard.enter();
        try {
            int blocks = query.blocks();
            if (blocks == 0) {
                return PrefixMatch.none(blockSize, 0);
            }
            if (query.hashes() != null) {
                copyHashes(query.hashes(), s);
                return matchHashes(s, blockSize, blocks);
            }
            int tokens = copyTokens(query, s);
            long seed = seed(query.space(), s);
            int status = match(s, tokens, blockSize, seed);
            if (status == KvLayout.E_CAPACITY) {
                s.hits.ensure((long) MAX_SLOTS * KvLayout.HIT_SIZE);
                status = match(s, tokens, blockSize, seed);
            }
            Status.check(status, "kvi_match_tokens");
            return read(s, s.outInt(0), blockSize, blocks);
        } finally {
            guard.exit(s);
        }
    }

    /** One native call for all of them, after one for the hashes of each. */
    @Override
    public List<PrefixMatch> matchAll(List<PrefixQuery> queries) {
        queries.forEach(NativePrefixIndex::requireBlockSize);
        List<PrefixMatch> held;
        Scratch s = guard.enter();
        try {
            held = new BatchMatch(handle, NAME_SPACE, s, space -> seed(space, s)).match(queries);
        } finally {
            guard.exit(s);
        }
        return hybrids.any()
                ? IntStream.range(0, held.size())
                        .mapToObj(i -> hybrids.usable(queries.get(i), held.get(i)))
                        .toList()
                : held;
    }

    private int match(Scratch s, int tokens, int blockSize, long seed) {
        return KvIndexLibrary.kvi_match_tokens(
                handle,
                NAME_SPACE,
                s.tokens.address(),
                tokens,
                blockSize,
                seed,
                0,
                0,
                s.hits.address(),
                (int) (s.hits.capacity() / KvLayout.HIT_SIZE),
                s.out.address());
    }

    /** Of the hashes that lie in {@code s.sequence}. */
    PrefixMatch matchHashes(Scratch s, int blockSize, int blocks) {
        int status = matchHashes(s, blocks);
        if (status == KvLayout.E_CAPACITY) {
            s.hits.ensure((long) MAX_SLOTS * KvLayout.HIT_SIZE);
            status = matchHashes(s, blocks);
        }
        Status.check(status, "kvi_match_locals");
        return read(s, s.outInt(0), blockSize, blocks);
    }

    private int matchHashes(Scratch s, int blocks) {
        return KvIndexLibrary.kvi_match_locals(
                handle,
                NAME_SPACE,
                s.sequence.address(),
                blocks,
                s.hits.address(),
                (int) (s.hits.capacity() / KvLayout.HIT_SIZE),
                s.out.address());
    }

    private static void copyHashes(long[] hashes, Scratch s) {
        s.sequence.ensure(8L * hashes.length);
        MemorySegment.copy(
                hashes, 0, s.sequence.segment(), ValueLayout.JAVA_LONG, 0, hashes.length);
    }

    /** For calls that take an index too. To be left by {@link #exit}; it is not closed before. */
    Scratch enter() {
        return guard.enter();
    }

    void exit(Scratch s) {
        guard.exit(s);
    }

    static PrefixMatch read(Scratch s, int count, int blockSize, int blocks) {
        int[] slots = new int[count];
        int[] depths = new int[count * Tier.COUNT];
        ByteBuffer hits = s.hits.values();
        for (int i = 0; i < count; i++) {
            int hit = i * KvLayout.HIT_SIZE;
            slots[i] = hits.getInt(hit + KvLayout.HIT_SLOT_AT);
            MemorySegment.copy(
                    s.hits.segment(),
                    ValueLayout.JAVA_INT,
                    hit + KvLayout.HIT_DEPTH_AT,
                    depths,
                    i * Tier.COUNT,
                    Tier.COUNT);
        }
        return new PrefixMatch(blockSize, blocks, slots, depths);
    }

    long seed(PrefixSpace space, Scratch s) {
        if (space.lora().isEmpty() && space.salt().isEmpty()) {
            return plainSeed;
        }
        Long known = seeds.get(space);
        if (known != null) {
            return known;
        }
        long seed = s.seed(space);
        if (seeds.size() >= MAX_CACHED_SEEDS) {
            seeds.clear();
        }
        seeds.put(space, seed);
        return seed;
    }

    @Override
    public SlotBlocks slotBlocks() {
        Scratch s = guard.enter();
        try {
            int status = slotBlocks(s);
            if (status == KvLayout.E_CAPACITY) {
                s.hits.ensure((long) MAX_SLOTS * KvLayout.TIER_BLOCKS_SIZE);
                status = slotBlocks(s);
            }
            Status.check(status, "kvi_slot_blocks");
            return new SlotBlocks(
                    s.hits.segment()
                            .asSlice(
                                    KvLayout.TIER_BLOCKS_BLOCKS_AT,
                                    (long) s.outInt(0) * KvLayout.TIER_BLOCKS_SIZE)
                            .toArray(ValueLayout.JAVA_LONG));
        } finally {
            guard.exit(s);
        }
    }

    private int slotBlocks(Scratch s) {
        return KvIndexLibrary.kvi_slot_blocks(
                handle,
                s.hits.address(),
                (int) (s.hits.capacity() / KvLayout.TIER_BLOCKS_SIZE),
                s.out.address());
    }

    @Override
    public IndexStats stats() {
        Scratch s = guard.enter();
        try {
            Status.check(KvIndexLibrary.kvi_stats(handle, s.out.address()), "kvi_stats");
            return new IndexStats(
                    Math.toIntExact(s.outLong(KvLayout.STATISTICS_SLOTS_AT)),
                    s.outLong(KvLayout.STATISTICS_BLOCKS_AT),
                    s.outLong(KvLayout.STATISTICS_RESIDENCIES_AT),
                    s.outLong(KvLayout.STATISTICS_RUNS_AT),
                    s.outLong(KvLayout.STATISTICS_ORPHANS_AT),
                    s.outLong(KvLayout.STATISTICS_BYTES_AT),
                    s.outLong(KvLayout.STATISTICS_GHOSTS_AT),
                    s.outLong(KvLayout.STATISTICS_MOVES_AT),
                    s.outLong(KvLayout.STATISTICS_CONFLICTS_AT),
                    s.outLong(KvLayout.STATISTICS_ORPHANS_GIVEN_UP_AT),
                    s.outLong(KvLayout.STATISTICS_REFUSED_AT),
                    s.outLong(KvLayout.STATISTICS_DECISIONS_AT),
                    s.outLong(KvLayout.STATISTICS_DECISIONS_ENDED_BY_TIME_AT),
                    s.outLong(KvLayout.STATISTICS_DECISIONS_ENDED_BY_CAPACITY_AT));
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public Taken save(Path file, List<Label> labels, long key) throws SnapshotException {
        Scratch s = guard.enter();
        try {
            return NativeSnapshots.save(handle, file, labels, key);
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public Taken load(Path file) throws SnapshotException {
        Scratch s = guard.enter();
        try {
            return NativeSnapshots.load(handle, file);
        } finally {
            guard.exit(s);
        }
    }

    /**
     * The index for prompts as texts. Closed with the index.
     *
     * @param memoryBytes for what it remembers of the beginnings of prompts
     */
    public PromptIndex prompts(long memoryBytes) {
        Scratch s = guard.enter();
        try {
            Status.check(
                    KvIndexLibrary.ktk_memory_open(memoryBytes, s.out.address()),
                    "ktk_memory_open");
            long memory = s.outLong(0);
            memories.add(memory);
            return new NativePromptIndex(this, memory);
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public void close() {
        if (guard.close()) {
            memories.forEach(
                    m -> Status.check(KvIndexLibrary.ktk_memory_close(m), "ktk_memory_close"));
            Status.check(KvIndexLibrary.kvi_close(handle), "kvi_close");
        }
    }
}
