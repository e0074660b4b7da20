package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Text to depths in one native call: {@code kvi_match_text}. Ids stay in C++, where the text
 * becomes UTF-8 too: several times faster than here, and nothing is allocated for it. Any thread,
 * calls run side by side. Buffers are those of the index and of the tokenizer, whose guards keep
 * both, and the memory, from being closed under a call.
 */
final class NativePromptIndex implements PromptIndex {
    /**
     * What lies behind the last remembered place of a known text is made again: no more than that.
     */
    private static final int RETOLD_BYTES = 128;

    private final NativePrefixIndex index;
    private final long memory;

    /** {@code memory}: closed with the index. */
    NativePromptIndex(NativePrefixIndex index, long memory) {
        this.index = index;
        this.memory = memory;
    }

    @Override
    public boolean runs(TextTokenizer tokenizer) {
        return tokenizer instanceof NativeBpeTokenizer;
    }

    @Override
    public @Nullable HashedPrompt match(
            TextTokenizer tokenizer,
            String text,
            boolean addSpecialTokens,
            int blockSize,
            PrefixSpace space,
            int mostNewChars) {
        if (!(tokenizer instanceof NativeBpeTokenizer bpe)) {
            throw new IllegalArgumentException("this tokenizer does not run here");
        }
        NativePrefixIndex.requireBlockSize(blockSize);
        HashedPrompt held = held(bpe, text, addSpecialTokens, blockSize, space, mostNewChars);
        return held == null ? null : usable(held, space);
    }

    private HashedPrompt usable(HashedPrompt held, PrefixSpace space) {
        if (!index.hybrids().any()) {
            return held;
        }
        PrefixQuery query =
                PrefixQuery.hashed(held.hashes(), held.tokens(), held.blockSize(), space);
        return new HashedPrompt(
                held.tokens(),
                held.knownTokens(),
                held.hashes(),
                index.hybrids().usable(query, held.match()));
    }

    private @Nullable HashedPrompt held(
            NativeBpeTokenizer bpe,
            String text,
            boolean addSpecialTokens,
            int blockSize,
            PrefixSpace space,
            int mostNewChars) {
        Scratch s = index.enter();
        try {
            Scratch t = bpe.enter();
            try {
                int length = text.length();
                t.utf16.ensure((long) Character.BYTES * length);
                MemorySegment.copy(
                        t.chars(text), 0, t.utf16.segment(), ValueLayout.JAVA_CHAR, 0, length);
                int flags =
                        KvLayout.PARSE_SPECIAL
                                | KvLayout.UTF16
                                | (addSpecialTokens ? KvLayout.ADD_SPECIAL : 0);
                query(t, length, flags, blockSize, index.seed(space, s), mostNewChars);
                // Few texts have more than an id for two characters; none has more than nine.
                long most = length * 9L / blockSize + 1024;
                long room = length / 2L / blockSize + 64;
                int status = ask(s, t, bpe, room);
                while (status == KvLayout.E_CAPACITY && room < most) {
                    s.hits.ensure((long) PrefixIndex.MAX_SLOTS * KvLayout.HIT_SIZE);
                    room = Math.min(room * 3, most);
                    status = ask(s, t, bpe, room);
                }
                if (status == KvLayout.E_ARGUMENT) {
                    UnencodableTextException.throwIfIllFormed(text);
                }
                Status.check(status, "kvi_match_text");
                return read(s, blockSize);
            } finally {
                bpe.exit(t);
            }
        } finally {
            index.exit(s);
        }
    }

    private static void query(
            Scratch t, int length, int flags, int blockSize, long seed, int mostNew) {
        t.queries.ensure(KvLayout.TEXT_QUERY_SIZE);
        ByteBuffer q = t.queries.values();
        q.putInt(KvLayout.TEXT_QUERY_SIZE_AT, KvLayout.TEXT_QUERY_SIZE);
        q.putInt(KvLayout.TEXT_QUERY_FLAGS_AT, flags);
        q.putLong(KvLayout.TEXT_QUERY_TEXT_AT, t.utf16.address());
        q.putLong(KvLayout.TEXT_QUERY_LENGTH_AT, length);
        q.putLong(KvLayout.TEXT_QUERY_SEED_AT, seed);
        q.putLong(
                KvLayout.TEXT_QUERY_MOST_NEW_AT,
                mostNew == Integer.MAX_VALUE ? -1L : (long) mostNew + RETOLD_BYTES);
        q.putInt(KvLayout.TEXT_QUERY_NAME_SPACE_AT, NativePrefixIndex.NAME_SPACE);
        q.putInt(KvLayout.TEXT_QUERY_BLOCK_SIZE_AT, blockSize);
    }

    private int ask(Scratch s, Scratch t, NativeBpeTokenizer bpe, long blocks) {
        s.sequence.ensure(Long.BYTES * blocks);
        return KvIndexLibrary.kvi_match_text(
                index.handle(),
                bpe.handle(),
                memory,
                t.queries.address(),
                s.sequence.address(),
                (int) (s.sequence.capacity() / Long.BYTES),
                s.hits.address(),
                (int) (s.hits.capacity() / KvLayout.HIT_SIZE),
                s.out.address());
    }

    private static @Nullable HashedPrompt read(Scratch s, int blockSize) {
        if (s.outInt(KvLayout.TEXT_FOUND_TOO_MUCH_AT) != 0) {
            return null;
        }
        int hits = s.outInt(KvLayout.TEXT_FOUND_HITS_AT);
        long[] hashes = NativePrefixIndex.hashes(s, s.outInt(KvLayout.TEXT_FOUND_BLOCKS_AT));
        return new HashedPrompt(
                Math.toIntExact(s.outLong(KvLayout.TEXT_FOUND_TOKENS_AT)),
                Math.toIntExact(s.outLong(KvLayout.TEXT_FOUND_KNOWN_TOKENS_AT)),
                hashes,
                NativePrefixIndex.read(s, hits, blockSize, hashes.length));
    }

    @Override
    public HashedPrompt match(int[] ids, int blockSize, PrefixSpace space) {
        int blocks = ids.length / NativePrefixIndex.requireBlockSize(blockSize);
        if (blocks == 0) {
            return new HashedPrompt(
                    ids.length, 0, new long[0], PrefixMatch.none(blockSize, blocks));
        }
        HashedPrompt held;
        Scratch s = index.enter();
        try {
            index.hash(ids, blocks, blockSize, space, s);
            PrefixMatch match = index.matchHashes(s, blockSize, blocks);
            held = new HashedPrompt(ids.length, 0, NativePrefixIndex.hashes(s, blocks), match);
        } finally {
            index.exit(s);
        }
        return usable(held, space);
    }

    @Override
    public Remembered remembered() {
        Scratch s = index.enter();
        try {
            Status.check(
                    KvIndexLibrary.ktk_memory_stats(memory, s.out.address()), "ktk_memory_stats");
            return new Remembered(
                    s.outLong(KvLayout.MEMORY_STATISTICS_PIECES_AT),
                    s.outLong(KvLayout.MEMORY_STATISTICS_BYTES_AT),
                    s.outLong(KvLayout.MEMORY_STATISTICS_EVICTED_AT),
                    s.outLong(KvLayout.MEMORY_STATISTICS_FOUND_AT),
                    s.outLong(KvLayout.MEMORY_STATISTICS_MISSED_AT));
        } finally {
            index.exit(s);
        }
    }

    @Override
    public PromptIndex apart(long memoryBytes) {
        return index.prompts(memoryBytes);
    }
}
