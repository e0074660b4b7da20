package io.warmpath.adapter.mooncake;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the body of {@code /batch_query_keys}: {@code
 * {"success":true,"data":{KEY:{"ok":true,...}}}}.
 *
 * <p>A key is held when its {@code ok} is true: then one complete replica exists, in memory or on a
 * disk. Not when it is being written ({@code REPLICA_IS_NOT_READY}). Members that are null, unknown
 * or left out make no difference. O(body).
 */
final class BatchAnswer {
    private static final JsonFactory JSON = new JsonFactory();

    private BatchAnswer() {}

    /**
     * @throws IOException what is wrong with the body: not JSON, no success, or a key that was
     *     asked for is not in it, as a master answers each
     */
    static BitSet held(byte[] body, List<String> keys) throws IOException {
        Map<String, Integer> positions = HashMap.newHashMap(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            positions.put(keys.get(i), i);
        }
        BitSet held = new BitSet(keys.size());
        try (JsonParser json = JSON.createParser(body)) {
            int answered = -1;
            boolean success = false;
            require(json.nextToken() == JsonToken.START_OBJECT, "not an object");
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                JsonToken value = json.nextToken();
                if (name.equals("success")) {
                    success = value == JsonToken.VALUE_TRUE;
                } else if (name.equals("data") && value == JsonToken.START_OBJECT) {
                    answered = data(json, positions, held);
                } else {
                    json.skipChildren();
                }
            }
            require(json.currentToken() == JsonToken.END_OBJECT, "cut short");
            require(success, "no success: " + start(body));
            require(
                    answered == positions.size(),
                    "answers " + Math.max(0, answered) + " of " + positions.size() + " keys");
            for (int i = 0; i < keys.size(); i++) {
                held.set(i, held.get(positions.getOrDefault(keys.get(i), i))); // a key asked twice
            }
            return held;
        }
    }

    /** Keys that were asked for and are answered; a key twice counts once. */
    private static int data(JsonParser json, Map<String, Integer> positions, BitSet held)
            throws IOException {
        BitSet seen = new BitSet(positions.size());
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            Integer position = positions.get(json.currentName());
            boolean ok = ok(json);
            if (position != null) {
                seen.set(position);
                held.set(position, ok);
            }
        }
        require(json.currentToken() == JsonToken.END_OBJECT, "cut short");
        return seen.cardinality();
    }

    private static boolean ok(JsonParser json) throws IOException {
        boolean ok = false;
        if (json.nextToken() != JsonToken.START_OBJECT) {
            json.skipChildren();
            return false;
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            boolean isOk = json.currentName().equals("ok");
            JsonToken value = json.nextToken();
            if (isOk) {
                ok = value == JsonToken.VALUE_TRUE;
            }
            json.skipChildren();
        }
        require(json.currentToken() == JsonToken.END_OBJECT, "cut short");
        return ok;
    }

    private static void require(boolean holds, String otherwise) throws IOException {
        if (!holds) {
            throw new IOException(otherwise);
        }
    }

    private static String start(byte[] body) {
        return new String(
                body, 0, Math.min(body.length, 120), java.nio.charset.StandardCharsets.UTF_8);
    }
}
