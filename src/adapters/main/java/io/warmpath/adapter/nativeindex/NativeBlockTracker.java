package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The C++ block cache tracker behind the port: one native call per prompt. Threads as the port
 * says; buffers and closing as in {@link NativePrefixIndex}.
 */
public final class NativeBlockTracker implements BlockTracker {
    /** A prompt without adapter and salt is hashed as the vectors say. */
    private static final long PLAIN_SEED = 0;

    private final int blockSize;
    private final long handle;
    private final CallGuard guard = new CallGuard("block tracker");

    /**
     * @param library as in {@link NativePrefixIndex}
     * @throws NativeIndexException when there is no library, or one that does not fit
     */
    public NativeBlockTracker(Optional<Path> library, Options options) {
        KvIndexLibrary.load(library);
        blockSize = options.blockSize();
        Scratch s = guard.enter();
        try {
            s.queries.ensure(KvLayout.TRACKER_CONFIG_SIZE);
            s.queries.segment().asSlice(0, KvLayout.TRACKER_CONFIG_SIZE).fill((byte) 0);
            ByteBuffer config = s.queries.values();
            config.putInt(KvLayout.TRACKER_CONFIG_SIZE_AT, KvLayout.TRACKER_CONFIG_SIZE);
            config.putInt(KvLayout.TRACKER_CONFIG_BLOCK_SIZE_AT, options.blockSize());
            config.putInt(
                    KvLayout.TRACKER_CONFIG_HASHING_AT,
                    options.hashing() == Hashing.CHAINED ? KvLayout.CHAINED : KvLayout.POSITION);
            config.putLong(KvLayout.TRACKER_CONFIG_MAX_BLOCKS_AT, options.maxBlocks());
            Status.check(KvIndexLibrary.kvt_open(s.queries.address(), s.out.address()), "kvt_open");
            handle = s.outLong(0);
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public void join(WorkerSlot backend) {
        Scratch s = guard.enter();
        try {
            Status.check(KvIndexLibrary.kvt_join(handle, backend.value()), "kvt_join");
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public boolean leave(WorkerSlot backend) {
        Scratch s = guard.enter();
        try {
            return isThere(KvIndexLibrary.kvt_leave(handle, backend.value()), "kvt_leave");
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public PrefixMatch find(PrefixQuery prompt) {
        Scratch s = guard.enter();
        try {
            int tokens = copyTokens(prompt, s);
            long seed = seed(prompt.space(), s);
            int status = find(s, tokens, seed);
            if (status == KvLayout.E_CAPACITY) {
                s.hits.ensure((long) PrefixIndex.MAX_SLOTS * KvLayout.TRACKER_HIT_SIZE);
                status = find(s, tokens, seed);
            }
            Status.check(status, "kvt_find");
            return read(s, prompt.blocks());
        } finally {
            guard.exit(s);
        }
    }

    private int find(Scratch s, int tokens, long seed) {
        return KvIndexLibrary.kvt_find(
                handle,
                s.tokens.address(),
                tokens,
                seed,
                s.hits.address(),
                (int) (s.hits.capacity() / KvLayout.TRACKER_HIT_SIZE),
                s.out.address());
    }

    private PrefixMatch read(Scratch s, int blocks) {
        int count = s.outInt(0);
        int[] slots = new int[count];
        int[] depths = new int[count * Tier.COUNT];
        ByteBuffer hits = s.hits.values();
        for (int i = 0; i < count; i++) {
            int hit = i * KvLayout.TRACKER_HIT_SIZE;
            slots[i] = hits.getInt(hit + KvLayout.TRACKER_HIT_BACKEND_AT);
            int depth = hits.getInt(hit + KvLayout.TRACKER_HIT_BLOCKS_AT);
            Arrays.fill(depths, i * Tier.COUNT, (i + 1) * Tier.COUNT, depth);
        }
        return new PrefixMatch(blockSize, blocks, slots, depths);
    }

    @Override
    public long record(WorkerSlot backend, PrefixQuery prompt) {
        Scratch s = guard.enter();
        try {
            int tokens = copyTokens(prompt, s);
            long seed = seed(prompt.space(), s);
            int status =
                    KvIndexLibrary.kvt_record(
                            handle,
                            backend.value(),
                            s.tokens.address(),
                            tokens,
                            seed,
                            s.out.address());
            return isThere(status, "kvt_record") ? s.outLong(0) : 0;
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public long evict() {
        Scratch s = guard.enter();
        try {
            Status.check(KvIndexLibrary.kvt_evict_all(handle, s.out.address()), "kvt_evict_all");
            return s.outLong(0);
        } finally {
            guard.exit(s);
        }
    }

    /** For tests: down to {@code most} blocks of one back end. */
    long evict(WorkerSlot backend, long most) {
        Scratch s = guard.enter();
        try {
            int status = KvIndexLibrary.kvt_evict(handle, backend.value(), most, s.out.address());
            return isThere(status, "kvt_evict") ? s.outLong(0) : 0;
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public Stats stats() {
        Scratch s = guard.enter();
        try {
            Status.check(KvIndexLibrary.kvt_stats(handle, s.out.address()), "kvt_stats");
            return new Stats(
                    s.outLong(KvLayout.TRACKER_STATISTICS_BACKENDS_AT),
                    s.outLong(KvLayout.TRACKER_STATISTICS_BLOCKS_AT),
                    s.outLong(KvLayout.TRACKER_STATISTICS_BYTES_AT),
                    s.outLong(KvLayout.TRACKER_STATISTICS_EVICTED_AT));
        } finally {
            guard.exit(s);
        }
    }

    @Override
    public void close() {
        if (guard.close()) {
            Status.check(KvIndexLibrary.kvt_close(handle), "kvt_close");
        }
    }

    private static boolean isThere(int status, String call) {
        if (status == KvLayout.E_SLOT) {
            return false;
        }
        Status.check(status, call);
        return true;
    }

    private int copyTokens(PrefixQuery prompt, Scratch s) {
        if (prompt.blockSize() != blockSize) {
            throw new IllegalArgumentException(
                    "a prompt in blocks of %s tokens, where the tracker has blocks of %s"
                            .formatted(prompt.blockSize(), blockSize));
        }
        int tokens = prompt.blocks() * blockSize;
        s.tokens.ensure(4L * tokens);
        MemorySegment.copy(prompt.tokens(), 0, s.tokens.segment(), ValueLayout.JAVA_INT, 0, tokens);
        return tokens;
    }

    private static long seed(PrefixSpace space, Scratch s) {
        return space.lora().isEmpty() && space.salt().isEmpty() ? PLAIN_SEED : s.seed(space);
    }
}
