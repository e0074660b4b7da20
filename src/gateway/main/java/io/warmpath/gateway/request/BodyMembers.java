package io.warmpath.gateway.request;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where the top-level members of a JSON object lie, and what the small ones say. Immutable. */
public final class BodyMembers {
    private static final JsonFactory JSON = new JsonFactory();

    /**
     * One member's value; of a member given twice the last.
     *
     * @param start its first byte
     * @param end just behind its last byte
     * @param text of a string or scalar; empty for containers
     * @param empty a container without content
     */
    public record Member(JsonToken kind, int start, int end, String text, boolean empty) {
        public boolean isNull() {
            return kind == JsonToken.VALUE_NULL;
        }

        /** True, a number, a text, an object or a list: not null and not false. */
        public boolean isSet() {
            return kind != JsonToken.VALUE_NULL && kind != JsonToken.VALUE_FALSE;
        }
    }

    private final Map<String, Member> members = new HashMap<>();
    private final int afterBrace;

    private BodyMembers(JsonParser json) throws IOException {
        json.nextToken();
        afterBrace = (int) json.currentLocation().getByteOffset();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            JsonToken kind = json.nextToken();
            int start = (int) json.currentTokenLocation().getByteOffset();
            String text = "";
            boolean empty = false;
            if (kind.isStructStart()) {
                int before = (int) json.currentLocation().getByteOffset();
                json.skipChildren();
                empty = json.currentTokenLocation().getByteOffset() == before;
            } else if (kind == JsonToken.VALUE_STRING && name.equals("prompt")) {
                json.finishToken(); // long, and not looked at
            } else {
                text = json.getText();
            }
            int end = (int) json.currentLocation().getByteOffset();
            members.put(name, new Member(kind, start, end, text, empty));
        }
    }

    /** Throws {@link IOException} when it is no JSON object. */
    public static BodyMembers of(byte[] body) throws IOException {
        try (JsonParser json = JSON.createParser(body)) {
            return new BodyMembers(json);
        }
    }

    /** Null: it is not there. */
    public @Nullable Member get(String name) {
        return members.get(name);
    }

    /** Just behind the opening brace. */
    public int afterBrace() {
        return afterBrace;
    }

    /** It is there, and not null. */
    public boolean has(String name) {
        Member m = members.get(name);
        return m != null && !m.isNull();
    }

    /** It is there, and neither null nor false. */
    public boolean isSet(String name) {
        Member m = members.get(name);
        return m != null && m.isSet();
    }

    /** A whole number above this. */
    public boolean isAbove(String name, int most) {
        return number(name) > most;
    }

    /** -1 where there is none. */
    public long number(String name) {
        Member m = members.get(name);
        if (m == null || m.kind() != JsonToken.VALUE_NUMBER_INT || m.text().length() > 18) {
            return -1;
        }
        return Long.parseLong(m.text());
    }
}
