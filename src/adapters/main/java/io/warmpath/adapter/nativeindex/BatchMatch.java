package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Several look-ups as one native call over hashes that lie one behind the other. One use, one
 * thread, inside a {@link CallGuard} call. Each prompt is hashed whole by a call of its own before:
 * which of its blocks are held is not known yet.
 */
final class BatchMatch {
    /** At most this many go down together: their rows of depths stay small. */
    static final int MOST = 32;

    private final long handle;
    private final int nameSpace;
    private final Scratch scratch;
    private final ToLongFunction<PrefixSpace> seeds;

    BatchMatch(long handle, int nameSpace, Scratch scratch, ToLongFunction<PrefixSpace> seeds) {
        this.handle = handle;
        this.nameSpace = nameSpace;
        this.scratch = scratch;
        this.seeds = seeds;
    }

    List<PrefixMatch> match(List<PrefixQuery> queries) {
        List<PrefixMatch> answers = new ArrayList<>(queries.size());
        for (int from = 0; from < queries.size(); from += MOST) {
            some(queries.subList(from, Math.min(queries.size(), from + MOST)), answers);
        }
        return answers;
    }

    private void some(List<PrefixQuery> queries, List<PrefixMatch> answers) {
        long blocks = 0;
        for (PrefixQuery query : queries) {
            blocks += query.blocks();
        }
        scratch.locals.ensure(Long.BYTES * blocks);
        scratch.queries.ensure((long) queries.size() * KvLayout.QUERY_SIZE);
        scratch.queries.segment().fill((byte) 0);
        long at = 0;
        for (int i = 0; i < queries.size(); i++) {
            PrefixQuery query = queries.get(i);
            hash(query, at);
            int record = i * KvLayout.QUERY_SIZE;
            ByteBuffer out = scratch.queries.values();
            out.putLong(record + KvLayout.QUERY_OFFSET_AT, at);
            out.putInt(record + KvLayout.QUERY_COUNT_AT, query.blocks());
            out.putInt(record + KvLayout.QUERY_NAME_SPACE_AT, nameSpace);
            at += query.blocks();
        }
        int stride = ask(queries.size(), blocks);
        for (int i = 0; i < queries.size(); i++) {
            answers.add(read(queries.get(i), i, stride));
        }
    }

    /** Local hashes to place {@code at}. */
    private void hash(PrefixQuery query, long at) {
        int blocks = query.blocks();
        if (blocks == 0) {
            return;
        }
        if (query.hashes() != null) {
            MemorySegment.copy(
                    query.hashes(),
                    0,
                    scratch.locals.segment(),
                    ValueLayout.JAVA_LONG,
                    Long.BYTES * at,
                    blocks);
            return;
        }
        int tokens = blocks * query.blockSize();
        scratch.tokens.ensure((long) Integer.BYTES * tokens);
        MemorySegment.copy(
                query.tokens(), 0, scratch.tokens.segment(), ValueLayout.JAVA_INT, 0, tokens);
        long seed = seeds.applyAsLong(query.space());
        Status.check(
                KvIndexLibrary.kvi_hash(
                        scratch.tokens.address(),
                        tokens,
                        query.blockSize(),
                        seed,
                        scratch.locals.address() + Long.BYTES * at,
                        0,
                        blocks,
                        scratch.out.address()),
                "kvi_hash");
    }

    /** Rows of all queries; answers how long a row is. */
    private int ask(int queries, long blocks) {
        while (true) {
            Status.check(
                    KvIndexLibrary.kvi_slot_bound(handle, scratch.out.address()), "kvi_slot_bound");
            int stride = Math.max(64, scratch.outInt(0));
            scratch.rows.ensure((long) queries * Tier.COUNT * stride * Integer.BYTES);
            int status =
                    KvIndexLibrary.kvi_match_batch(
                            handle,
                            scratch.queries.address(),
                            queries,
                            scratch.locals.address(),
                            blocks,
                            Tier.COUNT,
                            scratch.rows.address(),
                            stride,
                            0);
            // A slot was opened meanwhile: their number only grows, to a limit.
            if (status != KvLayout.E_CAPACITY || stride >= PrefixIndex.MAX_SLOTS) {
                Status.check(status, "kvi_match_batch");
                // Nothing beyond the bound of before is written.
                return Math.min(stride, scratch.outInt(0));
            }
        }
    }

    private PrefixMatch read(PrefixQuery query, int number, int slots) {
        if (query.blocks() == 0) {
            return PrefixMatch.none(query.blockSize(), 0);
        }
        int stride = Math.max(64, slots);
        ByteBuffer rows = scratch.rows.values();
        int first = number * Tier.COUNT * stride;
        int last = first + (Tier.COUNT - 1) * stride; // holds every slot that any tier has
        int count = 0;
        for (int slot = 0; slot < slots; slot++) {
            count += rows.getInt(Integer.BYTES * (last + slot)) != 0 ? 1 : 0;
        }
        int[] numbers = new int[count];
        int[] depths = new int[count * Tier.COUNT];
        int i = 0;
        for (int slot = 0; slot < slots; slot++) {
            if (rows.getInt(Integer.BYTES * (last + slot)) == 0) {
                continue;
            }
            numbers[i] = slot;
            for (int tier = 0; tier < Tier.COUNT; tier++) {
                depths[i * Tier.COUNT + tier] =
                        rows.getInt(Integer.BYTES * (first + tier * stride + slot));
            }
            i++;
        }
        return new PrefixMatch(query.blockSize(), query.blocks(), numbers, depths);
    }
}
