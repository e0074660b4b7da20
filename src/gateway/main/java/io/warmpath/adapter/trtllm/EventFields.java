package io.warmpath.adapter.trtllm;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One event as it stands on the wire. One thread; immutable once read.
 *
 * <p>Members of the event: event_id, data, window_size, attention_dp_rank, hash_algo,
 * layer_group_id. Of a block: block_hash, tokens, cache_level, priority, mm_keys, cache_salt.
 * Hashes are numbers of 64 bits, or SHA-256 in hexadecimal digits, of which the last 64 bits count.
 */
final class EventFields {
    /** Of what is absent. */
    static final int ABSENT = Integer.MIN_VALUE;

    private static final JsonFactory JSON = new JsonFactory();
    private static final int HASH_DIGITS = 16;
    private static final long MOST_TOKEN = 0xffff_ffffL;

    /**
     * @param plain token ids alone say what is in it
     * @param level 0: device memory
     */
    record Block(long hash, int[] tokens, boolean plain, int level, @Nullable String salt) {
        /** Both fit into one event: blocks of a size, in one place. */
        boolean goesWith(Block other) {
            return tokens.length == other.tokens.length
                    && level == other.level
                    && (salt == null ? other.salt == null : salt.equals(other.salt));
        }
    }

    private interface Member {
        void read(String name) throws IOException;
    }

    private interface Element {
        void read() throws IOException;
    }

    private final JsonParser in;
    String type = "";
    int window = ABSENT;
    int layerGroup = ABSENT;
    @Nullable Long parent;
    @Nullable Long hash;
    final List<Block> blocks = new ArrayList<>();
    final List<Long> hashes = new ArrayList<>();

    /** Cache levels that have blocks, of an engine that begins. */
    int levels;

    /** Where a block lies now, {@link #ABSENT} when it has not moved. */
    int newLevel = ABSENT;

    int oldLevel = ABSENT;
    @Nullable String loraName;
    boolean numberedLora;
    int unknownFields;

    private EventFields(JsonParser in) {
        this.in = in;
    }

    /**
     * @throws IOException when it is no event
     */
    static EventFields read(byte[] json) throws IOException {
        try (JsonParser in = JSON.createParser(json)) {
            in.nextToken();
            EventFields fields = new EventFields(in);
            fields.object(fields::eventMember);
            return fields;
        }
    }

    private void eventMember(String name) throws IOException {
        switch (name) {
            case "data" -> object(this::dataMember);
            case "window_size" -> window = isNull() ? ABSENT : small(name);
            case "layer_group_id" -> layerGroup = isNull() ? ABSENT : small(name);
            case "event_id", "attention_dp_rank", "hash_algo" -> in.skipChildren();
            default -> unknown();
        }
    }

    private void dataMember(String name) throws IOException {
        switch (name) {
            case "type" -> type = in.getText();
            case "parent_hash" -> parent = isNull() ? null : hash();
            case "blocks" -> array(() -> blocks.add(block()));
            case "block_hashes" -> array(() -> hashes.add(hash()));
            case "block_hash" -> hash = hash();
            case "cache_level" -> {
                if (!isNull()) {
                    object(this::levelMember);
                }
            }
            case "num_blocks_per_cache_level" ->
                    array(() -> levels += whole("a number of blocks") > 0 ? 1 : 0);
            case "lora_name" -> loraName = isNull() ? null : in.getText();
            case "lora_id" -> numberedLora = !isNull() && whole(name) > 0;
            case "priority" -> in.skipChildren();
            default -> unknown();
        }
    }

    private void levelMember(String name) throws IOException {
        switch (name) {
            case "new_value" -> newLevel = small(name);
            case "old_value" -> oldLevel = small(name);
            case "type" -> in.skipChildren();
            default -> unknown();
        }
    }

    private Block block() throws IOException {
        BlockFields block = new BlockFields();
        object(block::member);
        Long name = block.hash;
        if (name == null) {
            throw new IOException("a block without block_hash");
        }
        return new Block(
                name,
                Arrays.copyOf(block.tokens, block.count),
                block.plain,
                block.level,
                block.salt);
    }

    private final class BlockFields {
        private @Nullable Long hash;
        private int[] tokens = new int[64];
        private int count;
        private boolean plain = true;
        private int level;
        private @Nullable String salt;
        private long token;

        void member(String name) throws IOException {
            switch (name) {
                case "block_hash" -> hash = hash();
                case "tokens" -> array(this::readToken);
                case "cache_level" -> level = isNull() ? 0 : small(name);
                case "cache_salt" -> salt = isNull() ? null : in.getText();
                case "mm_keys" ->
                        array(
                                () -> {
                                    plain = false;
                                    in.skipChildren();
                                });
                case "lora_id" -> numberedLora |= !isNull() && whole(name) > 0;
                case "type", "priority" -> in.skipChildren();
                default -> unknown();
            }
        }

        private void readToken() throws IOException {
            token = 0;
            object(this::tokenMember);
            if (count == tokens.length) {
                tokens = Arrays.copyOf(tokens, count * 2);
            }
            tokens[count++] = (int) token;
        }

        /** Images and prompt tuning have a number beside the id, or a digest in its place. */
        private void tokenMember(String name) throws IOException {
            switch (name) {
                case "token_id" -> {
                    token = in.currentToken() == JsonToken.VALUE_STRING ? ABSENT : whole(name);
                    if (token < 0 || token > MOST_TOKEN) {
                        plain = false;
                        token = 0;
                    }
                }
                case "token_extra_id" -> plain &= isNull() || whole(name) == 0;
                case "type" -> in.skipChildren();
                default -> unknown();
            }
        }
    }

    private void object(Member member) throws IOException {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw new IOException("an object is missing");
        }
        while (in.nextToken() != JsonToken.END_OBJECT) {
            String name = in.currentName();
            in.nextToken();
            member.read(name);
        }
    }

    private void array(Element element) throws IOException {
        if (isNull()) {
            return;
        }
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw new IOException("a list is missing");
        }
        while (in.nextToken() != JsonToken.END_ARRAY) {
            element.read();
        }
    }

    private void unknown() throws IOException {
        in.skipChildren();
        unknownFields++;
    }

    private boolean isNull() {
        return in.currentToken() == JsonToken.VALUE_NULL;
    }

    private long hash() throws IOException {
        if (in.currentToken() != JsonToken.VALUE_STRING) {
            return whole("a hash");
        }
        String digits = in.getText();
        try {
            return Long.parseUnsignedLong(
                    digits.substring(Math.max(0, digits.length() - HASH_DIGITS)), 16);
        } catch (NumberFormatException e) {
            throw new IOException("a hash is neither a number nor hexadecimal", e);
        }
    }

    /** Signed or unsigned, 64 bits. */
    private long whole(String what) throws IOException {
        if (in.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw new IOException(what + " is no whole number");
        }
        if (in.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            return in.getLongValue();
        }
        BigInteger value = in.getBigIntegerValue();
        if (value.bitLength() > Long.SIZE || value.signum() < 0) {
            throw new IOException(what + " has more than 64 bits");
        }
        return value.longValue();
    }

    private int small(String what) throws IOException {
        long value = whole(what);
        if (value != (int) value) {
            throw new IOException(what + " has more than 32 bits");
        }
        return (int) value;
    }
}
