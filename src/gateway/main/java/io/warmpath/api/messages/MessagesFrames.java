package io.warmpath.api.messages;

import io.warmpath.api.json.EventSplitter;
import io.warmpath.api.json.JsonTree;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A stream of OpenAI's chunks as Anthropic's events: {@code message_start}, {@code ping}, for each
 * block {@code content_block_start}, {@code _delta} and {@code _stop}, then {@code message_delta}
 * and {@code message_stop}; or {@code error} at its end. One block is open at a time; what engines
 * say of another kind, or of another tool's call, closes it. The bytes may be cut anywhere. One per
 * answer, one thread.
 */
final class MessagesFrames {
    private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};

    /** An event that says nothing but that the stream is alive. */
    static final byte[] PING = utf8("event: ping\ndata: {\"type\":\"ping\"}\n\n");

    private static final int NONE = -1;
    private static final int TEXT = -2;
    private static final int THINKING = -3;

    private final String requestId;
    private final String model;
    private final MessagesEnd end;
    private final EventSplitter splitter;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private @Nullable Supplier<String> note;
    private @Nullable String id;
    private int open = NONE; // a tool's call: its index
    private int lastCall = NONE;
    private int block = -1; // number of the last one that was opened
    private boolean over;

    /** {@code room}: whether there is memory for so many bytes more. */
    MessagesFrames(String requestId, String model, List<String> stops, IntPredicate room) {
        this.splitter = new EventSplitter(this::event, room);
        this.requestId = requestId;
        this.model = model;
        this.end = new MessagesEnd(stops);
    }

    /**
     * @param routing makes the JSON that goes into the last event but one, when its time has come
     */
    void explain(Supplier<String> routing) {
        note = routing;
    }

    /** The events that are complete now; maybe none. */
    byte[] add(byte[] b, int from, int length) {
        splitter.add(b, from, length);
        if (splitter.tooLong() && !over) {
            fail("The engine sent an event without an end.");
        }
        return taken();
    }

    /** What is left to say when the engine's stream has ended. */
    byte[] ended() {
        complete();
        return taken();
    }

    private void complete() {
        if (!over && end.aborted()) {
            fail("The engine aborted the answer.");
        } else if (!over && end.known()) {
            finish();
        } else if (!over) {
            fail("The engine's answer ended before it was complete.");
        }
    }

    /** The last event: the stream broke. */
    byte[] failed(byte[] error) {
        over = true;
        out.writeBytes(MessagesErrors.event(error));
        return taken();
    }

    private byte[] taken() {
        byte[] bytes = out.toByteArray();
        out.reset();
        return bytes;
    }

    private void event(byte[] b, int from, int to) {
        if (over) {
            return;
        }
        if (Arrays.equals(b, from, to, DONE, 0, DONE.length)) {
            complete();
            return;
        }
        try {
            ChatChunk chunk = ChatChunk.read(b, from, to);
            if (chunk.failed()) {
                String why = chunk.error();
                fail(why == null ? "The engine failed." : why);
                return;
            }
            end.add(chunk);
            if (id == null) {
                start(chunk);
            }
            blocks(chunk);
        } catch (IOException e) {
            fail("The engine sent an event that is not a chunk of a chat.");
        }
    }

    private void fail(String message) {
        over = true;
        out.writeBytes(MessagesErrors.event(MessagesErrors.body("api_error", message, requestId)));
    }

    private void start(@Nullable ChatChunk chunk) {
        String own = MessagesJson.id(chunk == null ? null : chunk.id(), requestId);
        id = own;
        Map<String, @Nullable Object> message = MessagesJson.message(own, model, List.of());
        message.put("stop_reason", null);
        message.put("stop_sequence", null);
        // Engines count at the end; message_delta has the numbers.
        message.put("usage", new MessagesEnd(List.of()).usage());
        send("message_start", "message", message);
        out.writeBytes(PING);
    }

    private void blocks(ChatChunk chunk) throws IOException {
        if (!chunk.thinking().isEmpty()) {
            if (open != THINKING) {
                open(THINKING, MessagesJson.thinking(""));
            }
            delta("thinking_delta", "thinking", chunk.thinking());
        }
        if (!chunk.text().isEmpty()) {
            if (open != TEXT) {
                open(TEXT, MessagesJson.text(""));
            }
            delta("text_delta", "text", chunk.text());
        }
        for (ChatChunk.Call call : chunk.calls()) {
            call(call);
        }
    }

    private void call(ChatChunk.Call call) throws IOException {
        if (open != call.index()) {
            // A call that is closed already cannot go on, and one without a name cannot begin.
            if (call.index() <= lastCall || call.name() == null) {
                throw new IOException("a piece of a call that is not open");
            }
            lastCall = call.index();
            open(lastCall, MessagesJson.call(call, id == null ? requestId : id, Map.of()));
        }
        if (!call.arguments().isEmpty()) {
            delta("input_json_delta", "partial_json", call.arguments());
        }
    }

    private void open(int what, Map<String, @Nullable Object> content) {
        close();
        open = what;
        block++;
        Map<String, @Nullable Object> event = MessagesJson.typed("content_block_start");
        event.put("index", block);
        event.put("content_block", content);
        send(event);
    }

    private void close() {
        if (open != NONE) {
            open = NONE;
            send("content_block_stop", "index", block);
        }
    }

    private void delta(String type, String name, String value) {
        Map<String, @Nullable Object> delta = MessagesJson.typed(type);
        delta.put(name, value);
        Map<String, @Nullable Object> event = MessagesJson.typed("content_block_delta");
        event.put("index", block);
        event.put("delta", delta);
        send(event);
    }

    private void finish() {
        over = true;
        if (id == null) {
            start(null);
        }
        close();
        Map<String, @Nullable Object> delta = new LinkedHashMap<>();
        end.write(delta);
        Map<String, @Nullable Object> event = MessagesJson.typed("message_delta");
        event.put("delta", delta);
        event.put("usage", end.usage());
        Supplier<String> routing = note;
        if (routing != null) {
            event.put("nvext", Map.of("routing", new JsonTree.Raw(routing.get())));
        }
        send(event);
        send(MessagesJson.typed("message_stop"));
    }

    private void send(String type, String name, Object value) {
        Map<String, @Nullable Object> event = MessagesJson.typed(type);
        event.put(name, value);
        send(event);
    }

    private void send(Map<String, @Nullable Object> event) {
        out.writeBytes(utf8("event: " + event.get("type") + "\ndata: "));
        out.writeBytes(JsonTree.bytes(event));
        out.write('\n');
        out.write('\n');
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
