package io.warmpath.adapter.zmq;

import io.warmpath.events.MalformedBatchException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * What vLLM mixed into the block hashes beside the tokens, per block: adapter name, cache salt
 * (only in the first block of a prompt), identifiers of images.
 */
final class ExtraKeys {
    /** Dynamo's way of writing a salt where vLLM's plain string would be ambiguous. */
    private static final String DYNAMO_SALT = "dynamo-cache-salt:";

    static final ExtraKeys NONE = new ExtraKeys();

    /** A key of one block; {@code text} is null for anything that is not a plain string. */
    private record Key(int block, @Nullable String text) {}

    private final List<Key> keys = new ArrayList<>();
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
        } else {
            in.skip();
            if (type != ValueType.NIL) {
                keys.add(new Key(block, null));
            }
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
