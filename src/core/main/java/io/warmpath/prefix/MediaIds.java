package io.warmpath.prefix;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The token ids that stand for an image, a sound or a video in the place of its placeholders, so
 * that blocks of ids name what is cached of it. Some take turns, each with the high bit, which no
 * vocabulary has. Where engines take names they are two, 62 bits of a hash of the name; where they
 * make ids themselves they are these (SGLang: four). Immutable, any thread.
 */
public final class MediaIds {
    private static final int HIGH = 0x8000_0000;

    /** SGLang's ids of a medium. */
    private static final int TURN = 4;

    private final int[] turn;

    private MediaIds(int... turn) {
        this.turn = turn;
    }

    /**
     * @param name that the engine mixes into the hashes of blocks
     */
    public static MediaIds of(String name) {
        byte[] hash;
        try {
            hash =
                    MessageDigest.getInstance("SHA-256")
                            .digest(name.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        return new MediaIds(word(hash, 0), word(hash, 4));
    }

    private static int word(byte[] hash, int at) {
        return HIGH
                | ((hash[at] & 0x7f) << 24)
                | ((hash[at + 1] & 0xff) << 16)
                | ((hash[at + 2] & 0xff) << 8)
                | (hash[at + 3] & 0xff);
    }

    /**
     * Those that an engine has put in a medium's place.
     *
     * @param tokens an engine's, with those of the medium from {@code from} to {@code to}
     * @return null: they are too few, or do not take turns
     */
    public static @Nullable MediaIds seen(int[] tokens, int from, int to) {
        if (to - from < TURN) {
            return null;
        }
        for (int i = from; i < to; i++) {
            if (tokens[i] >= 0 || tokens[i] != tokens[from + (i - from) % TURN]) {
                return null;
            }
        }
        return new MediaIds(Arrays.copyOfRange(tokens, from, from + TURN));
    }

    /**
     * An id that is wider than 32 bits: SGLang derives such ones from a hash of the medium.
     *
     * @param wide above 2^32 - 1
     */
    public static int folded(long wide) {
        return HIGH | (int) wide;
    }

    /**
     * Puts them where the medium is known to be.
     *
     * @param start where it begins; negative: before the first token
     */
    public void put(int[] tokens, int start, int from, int to) {
        for (int i = from; i < to; i++) {
            tokens[i] = turn[Math.floorMod(i - start, turn.length)];
        }
    }

    /** The same as far as one placeholder follows the other. */
    public void putRun(int[] tokens, int start, int from, int to) {
        int end = from;
        while (end < to && tokens[end] == tokens[from]) {
            end++;
        }
        put(tokens, start, from, end);
    }

    /** The ids that an engine takes: those before the first medium. */
    public static int[] before(int[] ids) {
        int end = 0;
        while (end < ids.length && ids[end] >= 0) {
            end++;
        }
        return end == ids.length ? ids : Arrays.copyOf(ids, end);
    }
}
