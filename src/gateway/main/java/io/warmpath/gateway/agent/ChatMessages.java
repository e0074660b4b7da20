package io.warmpath.gateway.agent;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.buffer.Buffer;
import io.warmpath.net.HeapBytes;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where the messages of a chat stand in its body.
 *
 * @param from just behind the bracket
 * @param to the closing bracket; -1 when it was not looked for
 * @param answers one of them is an answer: whoever sends it sends the history
 */
public record ChatMessages(int from, int to, boolean answers) {
    private static final JsonFactory JSON = new JsonFactory();

    /**
     * Null when the body has no messages. About a nanosecond for each byte looked at.
     *
     * @param whole false: no further than the first answer
     */
    public static @Nullable ChatMessages find(Buffer body, boolean whole) {
        HeapBytes bytes = HeapBytes.of(body);
        try (JsonParser json = JSON.createParser(bytes.array(), bytes.offset(), bytes.length())) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            ChatMessages found = null; // of several the last one, as engines read them
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                boolean messages =
                        json.nextToken() == JsonToken.START_ARRAY && name.equals("messages");
                if (messages) {
                    found = read(json, whole);
                    if (!whole && found.answers) {
                        return found;
                    }
                } else {
                    json.skipChildren();
                }
            }
            return found;
        } catch (IOException e) {
            return null; // the parser before has read it, so this is no chat
        }
    }

    private static ChatMessages read(JsonParser json, boolean whole) throws IOException {
        int from = (int) json.currentTokenLocation().getByteOffset() + 1;
        boolean answers = false;
        while (json.nextToken() == JsonToken.START_OBJECT) {
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                answers |=
                        name.equals("role")
                                && value == JsonToken.VALUE_STRING
                                && json.getText().equals("assistant");
                json.skipChildren();
            }
            if (answers && !whole) {
                return new ChatMessages(from, -1, true);
            }
        }
        return new ChatMessages(from, (int) json.currentTokenLocation().getByteOffset(), answers);
    }

    /** The body with other messages in front of its own. */
    public Buffer after(byte[] others, Buffer body) {
        return Buffer.buffer(body.length() + others.length + 1)
                .appendBuffer(body, 0, from)
                .appendBytes(others)
                .appendString(",")
                .appendBuffer(body, from, body.length() - from);
    }

    /** The messages with commas between them, without the brackets. */
    public byte[] bytes(Buffer body) {
        return body.getBytes(from, to);
    }

    /** Messages and one more. */
    static byte[] with(byte[] messages, byte[] more) {
        byte[] all = Arrays.copyOf(messages, messages.length + 1 + more.length);
        all[messages.length] = ',';
        System.arraycopy(more, 0, all, messages.length + 1, more.length);
        return all;
    }
}
