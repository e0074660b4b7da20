package io.warmpath.adapter.nativeindex;

import io.warmpath.tokens.text.BpeParts;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The C++ byte-level tokenizer: one native call per text, tens of nanoseconds per token. Any
 * thread; encodes run side by side. Buffers and closing as in {@link NativePrefixIndex}.
 */
public final class NativeBpeTokenizer implements TextTokenizer {
    private final long handle;
    private final boolean reversible;
    private final CallGuard guard = new CallGuard("tokenizer");

    /**
     * @param library as in {@link NativePrefixIndex}
     * @throws IllegalArgumentException when the parts do not fit together, or there is no library
     *     that fits this gateway
     */
    public NativeBpeTokenizer(Optional<Path> library, BpeParts parts) {
        reversible = parts.reversible();
        try (Arena arena = Arena.ofConfined()) {
            KvIndexLibrary.load(library);
            MemorySegment out = arena.allocate(Long.BYTES, Long.BYTES);
            MemorySegment config = new TokenizerConfigBuffer(arena, parts).config();
            Status.check(KvIndexLibrary.ktk_open(config.address(), out.address()), "ktk_open");
            handle = OffHeap.values(out).getLong(0);
        } catch (NativeIndexException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    @Override
    public int[] encode(String text, boolean addSpecialTokens) {
        byte[] utf8 = utf8(text);
        int flags = KvLayout.PARSE_SPECIAL | (addSpecialTokens ? KvLayout.ADD_SPECIAL : 0);
        Scratch s = guard.enter();
        try {
            s.utf8.ensure(utf8.length);
            MemorySegment.copy(utf8, 0, s.utf8.segment(), ValueLayout.JAVA_BYTE, 0, utf8.length);
            // Few texts have more than an id for two bytes; none has more than three for a byte.
            long room = utf8.length / 2 + 64L;
            int status = encode(s, utf8.length, flags, room);
            if (status == KvLayout.E_CAPACITY) {
                status = encode(s, utf8.length, flags, utf8.length * 3L + 1024);
            }
            Status.check(status, "ktk_encode");
            int[] ids = new int[Math.toIntExact(s.outLong(0))];
            MemorySegment.copy(s.tokens.segment(), ValueLayout.JAVA_INT, 0, ids, 0, ids.length);
            return ids;
        } finally {
            guard.exit(s);
        }
    }

    /** Throws {@link UnencodableTextException} when it is not well-formed Unicode. */
    static byte[] utf8(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        // Mostly ASCII, and comparing is many times faster than looking at each character. A
        // surrogate without a partner became a question mark.
        if (utf8.length != text.length()
                || !text.equals(new String(utf8, StandardCharsets.ISO_8859_1))) {
            UnencodableTextException.throwIfIllFormed(text);
        }
        return utf8;
    }

    /**
     * For calls that take a tokenizer too. To be left by {@link #exit}; it is not closed before.
     */
    Scratch enter() {
        return guard.enter();
    }

    void exit(Scratch s) {
        guard.exit(s);
    }

    /** Valid between {@link #enter} and {@link #exit}. */
    long handle() {
        return handle;
    }

    private int encode(Scratch s, int length, int flags, long room) {
        s.tokens.ensure(room * Integer.BYTES);
        return KvIndexLibrary.ktk_encode(
                handle,
                s.utf8.address(),
                length,
                flags,
                s.tokens.address(),
                s.tokens.capacity() / Integer.BYTES,
                s.out.address());
    }

    @Override
    public Optional<String> decode(int[] ids) {
        if (!reversible) {
            return Optional.empty();
        }
        Scratch s = guard.enter();
        try {
            long bytes = (long) ids.length * Integer.BYTES;
            s.tokens.ensure(bytes);
            MemorySegment.copy(ids, 0, s.tokens.segment(), ValueLayout.JAVA_INT, 0, ids.length);
            // Tokens are a few bytes each; a list of the longest takes another round or two.
            int status = decode(s, ids.length, ids.length * 8L + 64);
            while (status == KvLayout.E_CAPACITY) {
                status = decode(s, ids.length, s.utf8.capacity() * 4);
            }
            Status.check(status, "ktk_decode");
            byte[] utf8 = new byte[Math.toIntExact(s.outLong(0))];
            MemorySegment.copy(s.utf8.segment(), ValueLayout.JAVA_BYTE, 0, utf8, 0, utf8.length);
            return Optional.of(text(utf8));
        } finally {
            guard.exit(s);
        }
    }

    /**
     * As the reference does it, with one U+FFFD for each longest beginning of a character. The JDK
     * does so too, but for surrogates, of which it makes one and not three: no character begins
     * like them, so their first byte is put in place of one that is no beginning at all.
     */
    private static String text(byte[] utf8) {
        for (int i = 0; i + 1 < utf8.length; i++) {
            if (utf8[i] == (byte) 0xed && (utf8[i + 1] & 0xe0) == 0xa0) {
                utf8[i] = (byte) 0xff;
            }
        }
        return new String(utf8, StandardCharsets.UTF_8);
    }

    private int decode(Scratch s, int count, long room) {
        s.utf8.ensure(room);
        return KvIndexLibrary.ktk_decode(
                handle,
                s.tokens.address(),
                count,
                0,
                s.utf8.address(),
                s.utf8.capacity(),
                s.out.address());
    }

    /** Set for what costs most of the texts that arrive; plain English costs far less. */
    @Override
    public int nanosPerChar() {
        return 100;
    }

    @Override
    public void close() {
        if (guard.close()) {
            Status.check(KvIndexLibrary.ktk_close(handle), "ktk_close");
        }
    }

    /** {@code ktk_config} and all that it points to. */
    private record TokenizerConfigBuffer(Arena arena, BpeParts parts) {
        MemorySegment config() {
            MemorySegment config = arena.allocate(KvLayout.TOKENIZER_CONFIG_SIZE, 8).fill((byte) 0);
            int[] ids = parts.ids();
            List<BpeParts.Added> added = parts.added();
            ByteBuffer values = OffHeap.values(config);
            MemorySegment vocabulary = arena.allocate((long) ids.length * KvLayout.TOKEN_SIZE, 8);
            MemorySegment special = arena.allocate((long) added.size() * KvLayout.TOKEN_SIZE, 8);
            byte[] known = parts.bytes();
            byte[][] contents = new byte[added.size()][];
            long total = known.length;
            for (int i = 0; i < contents.length; i++) {
                contents[i] = added.get(i).content().getBytes(StandardCharsets.UTF_8);
                total += contents[i].length;
            }
            MemorySegment bytes = arena.allocate(total);
            MemorySegment.copy(known, 0, bytes, ValueLayout.JAVA_BYTE, 0, known.length);
            ByteBuffer tokens = OffHeap.values(vocabulary);
            ByteBuffer specials = OffHeap.values(special);
            long offset = 0;
            int[] lengths = parts.lengths();
            for (int i = 0; i < ids.length; i++) {
                token(tokens, i, offset, lengths[i], ids[i], 0);
                offset += lengths[i];
            }
            for (int i = 0; i < contents.length; i++) {
                byte[] content = contents[i];
                MemorySegment.copy(
                        content, 0, bytes, ValueLayout.JAVA_BYTE, offset, content.length);
                BpeParts.Added one = added.get(i);
                token(specials, i, offset, content.length, one.id(), flags(one));
                offset += content.length;
            }
            int[] merges = parts.merges();
            int[] steps = parts.steps().stream().mapToInt(NativeBpeTokenizer::code).toArray();
            values.putInt(KvLayout.TOKENIZER_CONFIG_SIZE_AT, KvLayout.TOKENIZER_CONFIG_SIZE);
            values.putInt(
                    KvLayout.TOKENIZER_CONFIG_FLAGS_AT,
                    (parts.nfc() ? KvLayout.NFC : 0)
                            | (parts.ignoresMerges() ? KvLayout.IGNORE_MERGES : 0));
            values.putLong(KvLayout.TOKENIZER_CONFIG_BYTES_AT, bytes.address());
            values.putLong(KvLayout.TOKENIZER_CONFIG_BYTE_COUNT_AT, total);
            array(values, 0, vocabulary, ids.length);
            array(values, 1, special, contents.length);
            array(values, 2, ints(merges), merges.length / 3);
            array(values, 3, ints(steps), steps.length);
            array(values, 4, ints(parts.before()), parts.before().length);
            array(values, 5, ints(parts.behind()), parts.behind().length);
            return config;
        }

        /** The addresses lie one behind the other, as do the counts, in the same order. */
        private static void array(ByteBuffer values, int at, MemorySegment array, int count) {
            values.putLong(
                    KvLayout.TOKENIZER_CONFIG_VOCABULARY_AT + at * Long.BYTES, array.address());
            values.putInt(
                    KvLayout.TOKENIZER_CONFIG_VOCABULARY_COUNT_AT + at * Integer.BYTES, count);
        }

        private MemorySegment ints(int[] values) {
            MemorySegment memory =
                    arena.allocate((long) Integer.BYTES * values.length, Integer.BYTES);
            MemorySegment.copy(values, 0, memory, ValueLayout.JAVA_INT, 0, values.length);
            return memory;
        }

        private static void token(
                ByteBuffer tokens, int index, long offset, int length, int id, int flags) {
            int at = index * KvLayout.TOKEN_SIZE;
            tokens.putLong(at + KvLayout.TOKEN_OFFSET_AT, offset);
            tokens.putInt(at + KvLayout.TOKEN_LENGTH_AT, length);
            tokens.putInt(at + KvLayout.TOKEN_ID_AT, id);
            tokens.putInt(at + KvLayout.TOKEN_FLAGS_AT, flags);
        }
    }

    private static int flags(BpeParts.Added token) {
        return (token.special() ? KvLayout.SPECIAL : 0)
                | (token.normalized() ? KvLayout.NORMALIZED : 0)
                | (token.lstrip() ? KvLayout.LSTRIP : 0)
                | (token.rstrip() ? KvLayout.RSTRIP : 0);
    }

    static int code(BpeParts.Pattern pattern) {
        return switch (pattern) {
            case GPT2 -> KvLayout.GPT2;
            case LLAMA3 -> KvLayout.LLAMA3;
            case QWEN2 -> KvLayout.QWEN2;
            case QWEN35 -> KvLayout.QWEN35;
            case O200K -> KvLayout.O200K;
            case TEKKEN -> KvLayout.TEKKEN;
            case THREE_DIGITS -> KvLayout.THREE_DIGITS;
            case CJK -> KvLayout.CJK;
            case DEEPSEEK -> KvLayout.DEEPSEEK;
        };
    }
}
