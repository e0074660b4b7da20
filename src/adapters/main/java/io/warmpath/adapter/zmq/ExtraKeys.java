package io.warmpath.adapter.zmq;

import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.MediaIds;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * What vLLM mixed into the block hashes beside the tokens, per block: adapter name, cache salt
 * (only in the first block of a prompt), names of images with where each begins.
 */
final class ExtraKeys {
    /** Dynamo's way of writing a salt where vLLM's plain string would be ambiguous. */
    private static final String DYNAMO_SALT = "dynamo-cache-salt:";

    static final ExtraKeys NONE = new ExtraKeys();

    /** A key of one block; {@code text} is null for anything that is not a plain string. */
    private record Key(int block, @Nullable String text) {}

    /**
     * A medium that a block has a part of.
     *
     * @param start where it begins, counted from the block's first token; negative: in a block
     *     before
     */
    private record Medium(int block, String name, int start) {}

    private final List<Key> keys = new ArrayList<>();
    private final List<Medium> media = new ArrayList<>(0);
    private @Nullable String taggedSalt;

    private ExtraKeys() {}

    static ExtraKeys read(Payload in) throws MalformedBatchException, Payload.BadValue {
        ExtraKeys out = new ExtraKeys();
        int blocks = in.array();
        for (int block = 0; block < blocks; block++) {
            if (in.nil()) {
                continue;
            }
            int count = in.array();
            for (int i = 0; i < count; i++) {
                out.readKey(in, block);
            }
        }
        return out;
    }

    private void readKey(Payload in, int block) throws MalformedBatchException, Payload.BadValue {
        ValueType type = in.type();
        if (type == ValueType.STRING) {
            String text = in.string();
            if (text.startsWith(DYNAMO_SALT)) {
                taggedSalt = text.substring(DYNAMO_SALT.length());
            } else {
                keys.add(new Key(block, text));
            }
        } else if (type == ValueType.ARRAY) {
            readMedium(in, block);
        } else {
            in.skip();
            if (type != ValueType.NIL) {
                keys.add(new Key(block, null));
            }
        }
    }

    private void readMedium(Payload in, int block)
            throws MalformedBatchException, Payload.BadValue {
        int count = in.array();
        String name = null;
        for (int i = 0; i < count; i++) {
            if (count == 2 && i == 0 && in.type() == ValueType.STRING) {
                name = in.string();
            } else if (name != null && in.type() == ValueType.INTEGER) {
                media.add(
                        new Medium(
                                block,
                                name,
                                (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE)));
                return;
            } else {
                in.skip();
            }
        }
        keys.add(new Key(block, null));
    }

    /**
     * Puts the ids of media in the place of their placeholders. How long one is no event says: it
     * ends where another token follows, or another medium begins.
     *
     * @param tokens of all blocks; changed
     */
    void putMedia(int[] tokens, int blockSize) {
        String name = null;
        MediaIds ids = null;
        for (int i = 0; i < media.size(); i++) {
            Medium m = media.get(i);
            long begin = (long) m.block * blockSize;
            long end = begin + blockSize;
            if (blockSize <= 0 || m.start >= blockSize || end > tokens.length) {
                continue; // the event is refused for what is wrong with it
            }
            int from = (int) begin + Math.max(0, m.start);
            int to = (int) end;
            if (i + 1 < media.size() && media.get(i + 1).block == m.block) {
                to = Math.clamp(begin + media.get(i + 1).start, from, to);
            }
            if (ids == null || !m.name.equals(name)) {
                name = m.name;
                ids = MediaIds.of(name);
            }
            ids.putRun(tokens, (int) begin + m.start, from, to);
        }
    }

    /**
     * The salt, when the event starts a prompt and its first block has exactly one plain key that
     * is not the adapter. A salt looks like an older vLLM's image identifier there; taking one for
     * the other only hides a block, it never shows a wrong one.
     */
    @Nullable String salt(boolean startsPrompt, @Nullable String lora) {
        if (taggedSalt != null || !startsPrompt) {
            return taggedSalt;
        }
        String found = null;
        for (Key key : keys) {
            if (key.block == 0 && key.text != null && !key.text.equals(lora)) {
                if (found != null) {
                    return null;
                }
                found = key.text;
            }
        }
        return found;
    }

    /** Leading blocks that tokens, adapter and salt identify; at most {@code blocks}. */
    int plainBlocks(int blocks, @Nullable String lora, @Nullable String salt) {
        int plain = blocks;
        for (Key key : keys) {
            boolean known =
                    key.text != null
                            && (key.text.equals(lora) || (key.block == 0 && key.text.equals(salt)));
            if (!known) {
                plain = Math.min(plain, key.block);
            }
        }
        return plain;
    }
}
