package io.warmpath.adapter.zmq;

import io.warmpath.adapter.zmq.Payload.BadValue;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.MediaIds;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.ValueType;

/**
 * Reads one event, array or map, field by field. One thread, one event per instance.
 *
 * <p>In the array form the fields stand in this order after the tag; older writers stop early:
 * BlockStored: block_hashes, parent_block_hash, token_ids, block_size, lora_id, medium, lora_name
 * (or SGLang's map of metadata), extra_keys, group_idx, kv_cache_spec_kind,
 * kv_cache_spec_sliding_window, locality, ownership, session_id, lookahead_token_ids. BlockRemoved:
 * block_hashes, medium (Dynamo's mocker has an adapter number there), group_idx, locality,
 * ownership.
 */
final class EventFields {
    private static final String[] STORED_ORDER = {
        "type",
        "block_hashes",
        "parent_block_hash",
        "token_ids",
        "block_size",
        "lora_id",
        "medium",
        "lora_name",
        "extra_keys",
        "group_idx",
        "kv_cache_spec_kind",
        "kv_cache_spec_sliding_window",
        "locality",
        "ownership",
        "session_id",
        "lookahead_token_ids"
    };
    private static final String[] REMOVED_ORDER = {
        "type", "block_hashes", "medium", "group_idx", "locality", "ownership"
    };

    /** Allocated at once for a list, whose announced length need not be true. */
    private static final int FIRST_VALUES = 4096;

    private static final String[] CLEARED_ORDER = {"type", "source_kind"};

    private final Payload in;
    private int unknownFields;

    private @Nullable String tag;
    private long @Nullable [] hashes;
    private boolean hasParent;
    private long parent;
    private int @Nullable [] tokens;
    private boolean bigram;
    private int blockSize = -1;
    private long loraId;
    private @Nullable String medium;
    private @Nullable String loraName;
    private @Nullable String salt;
    private @Nullable String sessionId;
    private @Nullable String specKind;
    private @Nullable String locality;
    private int group = KvEvent.Scope.NO_GROUP;
    private int window;
    private ExtraKeys extraKeys = ExtraKeys.NONE;
    private boolean otherInputs;

    EventFields(Payload in) {
        this.in = in;
    }

    int unknownFields() {
        return unknownFields;
    }

    KvEvent read() throws MalformedBatchException, BadValue {
        if (in.type() == ValueType.MAP) {
            readMap();
        } else {
            readArray();
        }
        return build();
    }

    private void readArray() throws MalformedBatchException, BadValue {
        int n = in.array();
        if (n == 0) {
            throw new BadValue("event without a tag");
        }
        String kind = in.string();
        tag = kind;
        String[] order =
                switch (kind) {
                    case "BlockStored" -> STORED_ORDER;
                    case "BlockRemoved" -> REMOVED_ORDER;
                    case "AllBlocksCleared" -> CLEARED_ORDER;
                    default -> new String[0];
                };
        for (int i = 1; i < n; i++) {
            if (order == REMOVED_ORDER && i == 2 && in.type() == ValueType.INTEGER) {
                in.skip();
            } else if (i < order.length) {
                readField(order[i]);
            } else {
                in.skip();
                unknownFields += order.length == 0 ? 0 : 1;
            }
        }
    }

    private void readMap() throws MalformedBatchException, BadValue {
        int n = in.map();
        for (int i = 0; i < n; i++) {
            if (in.type() == ValueType.STRING) {
                readField(in.string());
            } else {
                in.skip();
                in.skip();
                unknownFields++;
            }
        }
    }

    private void readField(String name) throws MalformedBatchException, BadValue {
        switch (name) {
            case "type" -> tag = in.string();
            case "block_hashes" -> hashes = readHashes();
            case "parent_block_hash" -> {
                hasParent = !in.nil();
                parent = hasParent ? readHash() : 0;
            }
            case "token_ids" -> readTokens();
            case "block_size" -> blockSize = (int) in.integer(0, Integer.MAX_VALUE);
            case "lora_id" -> loraId = in.nil() ? 0 : in.bits();
            case "medium" -> medium = in.stringOrNil();
            case "lora_name" -> readLoraNameOrMetadata();
            case "cache_salt" -> salt = in.stringOrNil();
            case "session_id" -> sessionId = in.stringOrNil();
            case "extra_keys" -> {
                if (!in.nil()) {
                    extraKeys = ExtraKeys.read(in);
                }
            }
            case "group_idx" -> {
                group = in.nil() ? KvEvent.Scope.NO_GROUP : (int) in.integer(0, Integer.MAX_VALUE);
            }
            case "kv_cache_spec_kind" -> specKind = in.stringOrNil();
            case "locality" -> locality = in.stringOrNil();
            case "block_mm_infos" -> {
                otherInputs = !in.nil();
                if (otherInputs) {
                    in.skip();
                }
            }
            case "kv_cache_spec_sliding_window" ->
                    window = in.nil() ? 0 : (int) in.integer(0, Integer.MAX_VALUE);
            case "ownership", "lookahead_token_ids", "source_kind" -> in.skip();
            default -> {
                in.skip();
                unknownFields++;
            }
        }
    }

    /** SGLang 0.5.18 and 0.5.19 put a map here when the node is salted. */
    private void readLoraNameOrMetadata() throws MalformedBatchException, BadValue {
        if (in.type() != ValueType.MAP) {
            loraName = in.stringOrNil();
            return;
        }
        readMap();
    }

    private long[] readHashes() throws MalformedBatchException, BadValue {
        int n = in.array();
        long[] out = new long[Math.min(n, FIRST_VALUES)];
        for (int i = 0; i < n; i++) {
            out = i < out.length ? out : Arrays.copyOf(out, Math.min(n, 2 * i));
            out[i] = readHash();
        }
        return out;
    }

    private long readHash() throws MalformedBatchException, BadValue {
        if (in.type() != ValueType.BINARY) {
            return in.bits();
        }
        byte[] raw = in.binary();
        if (raw.length == 0) {
            throw new BadValue("empty hash");
        }
        long low = 0;
        for (int i = Math.max(0, raw.length - Long.BYTES); i < raw.length; i++) {
            low = (low << 8) | (raw[i] & 0xff);
        }
        return low;
    }

    private void readTokens() throws MalformedBatchException, BadValue {
        int n = in.array();
        bigram = n > 0 && in.type() == ValueType.ARRAY;
        int size = bigram ? n + 1 : n;
        int[] out = new int[Math.min(size, FIRST_VALUES)];
        for (int i = 0; i < n; i++) {
            if (out.length < size && i + 1 >= out.length) {
                out = Arrays.copyOf(out, Math.min(size, 2 * out.length));
            }
            if ((in.type() == ValueType.ARRAY) != bigram) {
                throw new BadValue("tokens and pairs of tokens in one list");
            }
            if (bigram && in.array() != 2) {
                throw new BadValue("a token group that is not a pair");
            }
            int token = readToken();
            if (bigram) {
                if (i > 0 && token != out[i]) {
                    throw new BadValue("a pair of tokens that does not follow the one before");
                }
                out[i + 1] = readToken();
            }
            out[i] = token;
        }
        tokens = out;
    }

    /** SGLang's ids of media have 62 bits. */
    private int readToken() throws MalformedBatchException, BadValue {
        long id = in.integer(0, Long.MAX_VALUE);
        return id > 0xffff_ffffL ? MediaIds.folded(id) : (int) id;
    }

    private KvEvent build() throws BadValue {
        if (tag == null) {
            throw new BadValue("event without a tag");
        }
        return switch (tag) {
            case "BlockStored" -> stored();
            case "BlockRemoved" ->
                    new KvEvent.Removed(required(hashes, "block_hashes"), medium, scope());
            case "AllBlocksCleared" -> new KvEvent.Cleared();
            default -> new KvEvent.Unknown(tag);
        };
    }

    private KvEvent stored() throws BadValue {
        if (tokens == null || blockSize < 0) {
            throw new BadValue("stored blocks without token_ids or block_size");
        }
        long[] blocks = required(hashes, "block_hashes");
        extraKeys.takeAdapter(loraName);
        String theSalt = salt != null ? salt : extraKeys.takeSalt(!hasParent);
        extraKeys.putMedia(tokens, blockSize);
        int plain = otherInputs ? 0 : extraKeys.plainBlocks(blocks.length);
        return new KvEvent.Stored(
                blocks,
                hasParent,
                parent,
                tokens,
                bigram,
                blockSize,
                medium,
                loraName,
                loraId > 0 && (loraName == null || loraName.isEmpty()),
                theSalt,
                plain,
                sessionId,
                scope());
    }

    private KvEvent.Scope scope() {
        return group == KvEvent.Scope.NO_GROUP && specKind == null && locality == null
                ? KvEvent.Scope.NONE
                : new KvEvent.Scope(group, specKind, window, locality);
    }

    private static long[] required(long @Nullable [] value, String name) throws BadValue {
        if (value == null) {
            throw new BadValue("event without " + name);
        }
        return value;
    }
}
