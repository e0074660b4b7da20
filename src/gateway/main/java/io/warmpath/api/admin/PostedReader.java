package io.warmpath.api.admin;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.Media;
import io.warmpath.events.PostedBatch;
import io.warmpath.fault.GatewayException;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of {@code POST /events}: names as in the engines' own events, nothing else, and
 * nothing of a body that has one thing wrong. Immutable, any thread; O(bytes).
 */
enum PostedReader {
    JSON,
    MSGPACK;

    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final Set<String> BATCH =
            Set.of("worker", "dp_rank", "epoch", "sequence", "ts", "events");
    private static final Set<String> STORED =
            Set.of(
                    "type",
                    "block_hashes",
                    "parent_block_hash",
                    "token_ids",
                    "block_size",
                    "medium",
                    "lora_name",
                    "cache_salt");
    private static final Set<String> REMOVED = Set.of("type", "block_hashes", "medium");
    private static final Set<String> CLEARED = Set.of("type");

    /** A token takes five bytes and more in JSON, as a rule: those of 8 MiB are fewer. */
    private static final int MAX_VALUES = 1_500_000;

    private static final int MAX_NESTS = 100_000;
    private static final int MAX_RANK = 1023;
    private static final int MAX_BLOCK_SIZE = 65_536;
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();

    /**
     * @throws GatewayException a bad request that names the path of what is wrong
     */
    PostedBatch read(byte[] body) {
        JsonNode batch;
        try {
            batch = this == JSON ? json(body) : MsgpackTree.read(body, room());
        } catch (IOException e) {
            throw InvalidRequest.bad(
                    "",
                    "The request body is not valid " + (this == JSON ? "JSON." : "MessagePack."));
        }
        object(batch, "", BATCH);
        String worker = text(batch, "", "worker");
        if (worker == null) {
            throw wrong("worker", "names the worker that these events are of");
        }
        int rank = (int) whole(batch, "", "dp_rank", 0, 0, MAX_RANK);
        long epoch = whole(batch, "", "epoch", -1, 0, Long.MAX_VALUE);
        long sequence = whole(batch, "", "sequence", -1, 0, Long.MAX_VALUE - 1);
        JsonNode ts = batch.path("ts");
        if (!ts.isMissingNode() && !ts.isNumber()) {
            throw wrong("ts", "must be seconds since 1970");
        }
        JsonNode list = batch.path("events");
        if (!list.isArray()) {
            throw wrong("events", "must be an array");
        }
        List<KvEvent> events = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            events.add(event(list.get(i), "events[" + i + "]"));
        }
        return new PostedBatch(
                worker,
                rank,
                epoch,
                sequence,
                new KvBatch(ts.asDouble(0), KvBatch.NO_RANK, events, 0, 0));
    }

    private static TreeRoom room() {
        return new TreeRoom(MAX_VALUES, MAX_NESTS);
    }

    /** Looks through it before a tree is made of it. */
    private static JsonNode json(byte[] body) throws IOException {
        TreeRoom room = room();
        try (JsonParser parser = MAPPER.createParser(body)) {
            for (JsonToken t = parser.nextToken(); t != null; t = parser.nextToken()) {
                if (t.isScalarValue() || t.isStructStart()) {
                    room.take(t.isStructStart());
                }
            }
        }
        return MAPPER.readTree(body);
    }

    private static KvEvent event(JsonNode event, String path) {
        if (!event.isObject()) {
            throw wrong(path, "must be an object");
        }
        return switch (event.path("type").asText("")) {
            case "BlockStored" -> stored(object(event, path, STORED), path);
            case "BlockRemoved" -> {
                object(event, path, REMOVED);
                yield new KvEvent.Removed(
                        ids(event, path), medium(event, path), KvEvent.Scope.NONE);
            }
            case "AllBlocksCleared" -> {
                object(event, path, CLEARED);
                yield new KvEvent.Cleared();
            }
            default ->
                    throw wrong(
                            path + ".type",
                            "must be `BlockStored`, `BlockRemoved` or `AllBlocksCleared`");
        };
    }

    private static KvEvent stored(JsonNode event, String path) {
        long[] ids = ids(event, path);
        int blockSize = (int) whole(event, path, "block_size", -1, 1, MAX_BLOCK_SIZE);
        JsonNode tokens = event.path("token_ids");
        String at = path + ".token_ids";
        if (!tokens.isArray() || tokens.size() != (long) ids.length * blockSize) {
            throw wrong(
                    at,
                    "must be an array of "
                            + (long) ids.length * blockSize
                            + " token ids, `block_size` for each of `block_hashes`");
        }
        int[] values = new int[tokens.size()];
        for (int i = 0; i < values.length; i++) {
            JsonNode token = tokens.get(i);
            if (!token.isIntegralNumber()
                    || !token.canConvertToLong()
                    || token.longValue() < 0
                    || token.longValue() > 0xffff_ffffL) {
                throw wrong(at + "[" + i + "]", "must be a whole number from 0 to 4294967295");
            }
            values[i] = (int) token.longValue();
        }
        JsonNode parent = event.path("parent_block_hash");
        boolean hasParent = !parent.isMissingNode() && !parent.isNull();
        return new KvEvent.Stored(
                ids,
                hasParent,
                hasParent ? id(parent, path + ".parent_block_hash") : 0,
                values,
                false,
                blockSize,
                medium(event, path),
                text(event, path, "lora_name"),
                false,
                text(event, path, "cache_salt"),
                ids.length,
                null,
                KvEvent.Scope.NONE);
    }

    private static long[] ids(JsonNode event, String path) {
        String at = path + ".block_hashes";
        JsonNode list = event.path("block_hashes");
        if (!list.isArray() || list.isEmpty()) {
            throw wrong(at, "must be an array with at least one block id");
        }
        long[] ids = new long[list.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = id(list.get(i), at + "[" + i + "]");
        }
        return ids;
    }

    /** A number, or its decimal digits as text: not every writer of JSON has 64 bits. */
    private static long id(JsonNode value, String path) {
        BigInteger id = BigInteger.ZERO;
        if (value.isIntegralNumber()) {
            id = value.bigIntegerValue();
        } else if (value.isTextual() && value.asText().matches("-?[0-9]{1,20}")) {
            id = new BigInteger(value.asText());
        }
        if (id.signum() == 0 || id.compareTo(MOST) > 0 || id.compareTo(LEAST) < 0) {
            throw wrong(path, "must be a block id: 64 bits, as a number or as text, and not 0");
        }
        return id.longValue();
    }

    private static @Nullable String medium(JsonNode event, String path) {
        String medium = text(event, path, "medium");
        if (!Media.known(medium)) {
            throw wrong(path + ".medium", "must be `GPU`, `CPU`, `DISK` or `EXTERNAL`");
        }
        return medium;
    }

    private static @Nullable String text(JsonNode of, String path, String name) {
        JsonNode value = of.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isTextual() || value.asText().isEmpty()) {
            throw wrong(path(path, name), "must be a text that is not empty");
        }
        return value.asText();
    }

    /** {@code otherwise}: what an absent one counts as; -1: it must be there. */
    private static long whole(
            JsonNode of, String path, String name, long otherwise, long least, long most) {
        JsonNode value = of.path(name);
        if (value.isMissingNode() && otherwise >= 0) {
            return otherwise;
        }
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < least
                || value.longValue() > most) {
            throw wrong(path(path, name), "must be a whole number from " + least + " to " + most);
        }
        return value.longValue();
    }

    private static JsonNode object(JsonNode node, String path, Set<String> known) {
        if (node == null || !node.isObject()) {
            throw InvalidRequest.bad(path, "The request body must be an object.");
        }
        for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (!known.contains(name)) {
                throw wrong(path(path, name), "is not known here");
            }
        }
        return node;
    }

    private static String path(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    private static GatewayException wrong(String path, String what) {
        return InvalidRequest.bad(path, "`" + path + "` " + what + "; nothing was applied.");
    }
}
