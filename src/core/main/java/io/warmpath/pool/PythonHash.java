package io.warmpath.pool;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What CPython 3.11 and later, on 64 bits, answers to {@code hash()} of numbers, tuples, texts. */
final class PythonHash {
    private static final long PRIME_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME_5 = 0x27D4EB2F165667C5L;
    private static final long LENGTH_MASK = PRIME_5 ^ 3527539L;
    private static final long MODULUS = (1L << 61) - 1;

    /** Of a tuple: what would be -1, which CPython's own functions use for errors. */
    private static final long INSTEAD_OF_MINUS_ONE = 1546275796L;

    private PythonHash() {}

    /** Of a whole number of 64 bits. */
    static long number(long value) {
        long hash = value % MODULUS;
        return hash == -1 ? -2 : hash;
    }

    /** Of a tuple, by the hashes of its elements. */
    static long tuple(long... elements) {
        long acc = PRIME_5;
        for (long e : elements) {
            acc = lane(acc, e);
        }
        return end(acc, elements.length);
    }

    /** Of the tuple of these numbers: u32 in an int. */
    static long tuple(int[] numbers, int from, int length) {
        long acc = PRIME_5;
        for (int i = from; i < from + length; i++) {
            acc = lane(acc, Integer.toUnsignedLong(numbers[i]));
        }
        return end(acc, length);
    }

    private static long lane(long acc, long element) {
        return Long.rotateLeft(acc + element * PRIME_2, 31) * PRIME_1;
    }

    private static long end(long acc, int length) {
        long hash = acc + (length ^ LENGTH_MASK);
        return hash == -1 ? INSTEAD_OF_MINUS_ONE : hash;
    }

    /**
     * Of an ASCII text, in a process whose PYTHONHASHSEED is that.
     *
     * @return null when the seed is no number from 0 to 2^32 - 1: then each process has another
     */
    static @Nullable Long text(String text, String hashSeed) {
        long seed;
        try {
            seed = Integer.toUnsignedLong(Integer.parseUnsignedInt(hashSeed));
        } catch (NumberFormatException e) {
            return null;
        }
        ByteBuffer secret = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int x = (int) seed;
        while (seed != 0 && secret.hasRemaining()) {
            x = x * 214013 + 2531011;
            secret.put((byte) (x >>> 16));
        }
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        long hash = bytes.length == 0 ? 0 : sip13(secret.getLong(0), secret.getLong(8), bytes);
        return hash == -1 ? -2 : hash;
    }

    /** SipHash-1-3. */
    private static long sip13(long k0, long k1, byte[] bytes) {
        long[] v = {
            k0 ^ 0x736f6d6570736575L,
            k1 ^ 0x646f72616e646f6dL,
            k0 ^ 0x6c7967656e657261L,
            k1 ^ 0x7465646279746573L
        };
        ByteBuffer in =
                ByteBuffer.allocate((bytes.length / Long.BYTES + 1) * Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        in.put(bytes).put(in.capacity() - 1, (byte) bytes.length).rewind();
        while (in.hasRemaining()) {
            long word = in.getLong();
            v[3] ^= word;
            round(v);
            v[0] ^= word;
        }
        v[2] ^= 0xff;
        round(v);
        round(v);
        round(v);
        return v[0] ^ v[1] ^ v[2] ^ v[3];
    }

    private static void round(long[] v) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = Long.rotateLeft(v[1], 13) ^ v[0];
        v[3] = Long.rotateLeft(v[3], 16) ^ v[2];
        v[0] = Long.rotateLeft(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = Long.rotateLeft(v[1], 17) ^ v[2];
        v[3] = Long.rotateLeft(v[3], 21) ^ v[0];
        v[2] = Long.rotateLeft(v[2], 32);
    }
}
