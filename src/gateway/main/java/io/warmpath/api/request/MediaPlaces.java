package io.warmpath.api.request;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.json.JsonInput;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.profile.ChatMedia;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Where in a chat's body each medium begins: the byte behind its part's opening brace, counted from
 * the body's first. One pass over the bytes; not on an event loop.
 */
final class MediaPlaces {
    private final JsonParser json;
    private final List<Integer> places = new ArrayList<>();

    private MediaPlaces(JsonParser json) {
        this.json = json;
    }

    /**
     * @param bytes a body that was read before
     */
    static int[] of(HeapBytes bytes) {
        return JsonInput.body(
                bytes,
                json -> {
                    MediaPlaces found = new MediaPlaces(json);
                    json.nextToken();
                    found.members("messages", found::messages);
                    return found.places.stream().mapToInt(Integer::intValue).toArray();
                });
    }

    private interface Value {
        void read() throws IOException;
    }

    /** Of the object that has begun; of a member given twice the last counts. */
    private void members(String wanted, Value value) throws IOException {
        int before = places.size();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            if (name.equals(wanted)) {
                places.subList(before, places.size()).clear();
                value.read();
            } else {
                json.skipChildren();
            }
        }
    }

    private void messages() throws IOException {
        each(() -> members("content", () -> each(this::part)));
    }

    /** Objects of the list that is the current value. */
    private void each(Value object) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            json.skipChildren();
            return;
        }
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t == JsonToken.START_OBJECT) {
                object.read();
            } else {
                json.skipChildren();
            }
        }
    }

    private void part() throws IOException {
        int inside = (int) json.currentLocation().getByteOffset();
        boolean medium = false;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            if (name.equals("type")) {
                medium = value == JsonToken.VALUE_STRING && ChatMedia.isMedium(json.getText());
            }
            json.skipChildren();
        }
        if (medium) {
            places.add(inside);
        }
    }
}
