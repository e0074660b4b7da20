package io.warmpath.adapter.zmq;

import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.MediaIds;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * What vLLM mixed into the block hashes beside the tokens, per block and in this order: adapter
 * name (in each block), names of images with where each begins, cache salt (only in the first block
 * of a prompt). They may be equal to each other, so that their place counts and not their text
 * alone. One thread.
 */
final class ExtraKeys {
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
            keys.add(new Key(block, in.string()));
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

    /** Takes the adapter's key off each block, once: another of its name is a salt or an image. */
    void takeAdapter(@Nullable String lora) {
        int last = -1;
        for (Iterator<Key> it = keys.iterator(); it.hasNext(); ) {
            Key key = it.next();
            if (key.block != last && key.text != null && key.text.equals(lora)) {
                last = key.block;
                it.remove();
            }
        }
    }

    /**
     * Takes the salt off, which is the only other key of a prompt's first block. There it looks
     * like an older vLLM's image; taking one for the other only hides a block, it never shows a
     * wrong one.
     */
    @Nullable String takeSalt(boolean startsPrompt) {
        if (!startsPrompt || keys.isEmpty() || keys.getFirst().block != 0) {
            return null;
        }
        String salt = keys.getFirst().text;
        if (salt == null || salt.isEmpty() || (keys.size() > 1 && keys.get(1).block == 0)) {
            return null;
        }
        keys.removeFirst();
        return salt;
    }

    /** Leading blocks that have no key left, which tokens, adapter and salt identify. */
    int plainBlocks(int blocks) {
        return keys.isEmpty() ? blocks : Math.min(blocks, keys.getFirst().block);
    }
}
