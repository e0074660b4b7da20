package io.warmpath.adapter.trtllm;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of one answer, a list of objects, as far as it can be read. Immutable.
 *
 * @param problem why there is no more of it; null: this is all
 */
record EventAnswer(List<Event> events, @Nullable String problem) {
    private static final JsonFactory JSON = new JsonFactory();

    /** An engine keeps some thousand events for who asks. */
    private static final int MOST_EVENTS = 1 << 16;

    /**
     * @param rank 0 where there is one
     * @param id its number among those of the rank; -1: it has none
     * @param window 0 where it has none
     * @param json its bytes, as they came
     */
    record Event(int rank, long id, int window, byte[] json) {}

    static EventAnswer read(byte[] body) {
        List<Event> events = new ArrayList<>();
        try (JsonParser in = JSON.createParser(body)) {
            if (in.nextToken() != JsonToken.START_ARRAY) {
                return new EventAnswer(events, "its answer is no list of events");
            }
            for (JsonToken t = in.nextToken(); t != JsonToken.END_ARRAY; t = in.nextToken()) {
                if (t == JsonToken.START_OBJECT) {
                    if (events.size() == MOST_EVENTS) {
                        return new EventAnswer(
                                events, "its answer has more than " + MOST_EVENTS + " events");
                    }
                    Event event = event(in, body);
                    if (event != null) {
                        events.add(event);
                    }
                } else if (t != JsonToken.VALUE_NULL) {
                    return new EventAnswer(events, "its answer has something else than events");
                }
            }
            return new EventAnswer(events, null);
        } catch (IOException e) {
            return new EventAnswer(events, "its answer is no JSON, or not all of it");
        }
    }

    /** Null for an empty object, which stands for no event. */
    private static @Nullable Event event(JsonParser in, byte[] body) throws IOException {
        int from = (int) in.currentTokenLocation().getByteOffset();
        int rank = 0;
        long id = -1;
        int window = 0;
        boolean empty = true;
        while (in.nextToken() != JsonToken.END_OBJECT) {
            empty = false;
            String name = in.currentName();
            boolean number = in.nextToken() == JsonToken.VALUE_NUMBER_INT;
            switch (name) {
                case "event_id" -> id = number ? in.getLongValue() : -1;
                case "attention_dp_rank" -> rank = number ? in.getIntValue() : 0;
                case "window_size" -> window = number ? in.getIntValue() : 0;
                default -> in.skipChildren();
            }
        }
        int to = (int) in.currentLocation().getByteOffset();
        return empty ? null : new Event(rank, id, window, Arrays.copyOfRange(body, from, to));
    }
}
