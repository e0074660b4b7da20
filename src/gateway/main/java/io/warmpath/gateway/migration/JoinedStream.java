package io.warmpath.gateway.migration;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.warmpath.fault.GatewayError;
import io.warmpath.upstream.UpstreamListener;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes an engine's continuation look like the rest of the stream that the client is reading: id,
 * time and model of the first, no second role, usage of both together.
 *
 * <p>Reads every event as JSON: a few microseconds each, for the few streams that were moved. Only
 * whole events are handed on. On the request's event loop.
 */
public final class JoinedStream implements UpstreamListener {
    private static final String DATA = "data:";

    private final JsonObject first;
    private final @Nullable JoinedUsage usage;
    private final UpstreamListener next;
    private Buffer pending = Buffer.buffer();
    private Buffer ready = Buffer.buffer();

    /**
     * @param firstEvent data of the first event that the client got
     * @param usage makes this stream's usage that of both; null: this one has the whole answer
     */
    public JoinedStream(byte[] firstEvent, @Nullable JoinedUsage usage, UpstreamListener next) {
        this.usage = usage;
        this.first = object(new String(firstEvent, StandardCharsets.UTF_8));
        this.next = next;
    }

    private static JsonObject object(String data) {
        try {
            return new JsonObject(data);
        } catch (DecodeException e) {
            return new JsonObject(); // an engine of another kind; its own names stay
        }
    }

    @Override
    public void head(int status, MultiMap headers) {
        next.head(status, headers);
    }

    @Override
    public void data(byte[] b, int from, int length) {
        add(b, from, length);
        if (ready.length() > 0) {
            byte[] whole = take();
            next.data(whole, 0, whole.length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        add(b, from, length);
        ready.appendBuffer(pending); // an unfinished event is passed on as it is
        pending = Buffer.buffer();
        byte[] whole = take();
        next.end(whole, 0, whole.length);
    }

    @Override
    public void failed(GatewayError error) {
        next.failed(error);
    }

    private byte[] take() {
        byte[] whole = ready.getBytes();
        ready = Buffer.buffer();
        return whole;
    }

    private void add(byte[] b, int from, int length) {
        int scanned = Math.max(0, pending.length() - 3);
        pending.appendBytes(b, from, length);
        int begin = 0;
        int end = blankLine(pending, scanned);
        while (end >= 0) {
            event(pending.getString(begin, end));
            begin = end;
            end = blankLine(pending, begin);
        }
        if (begin > 0) {
            pending = pending.getBuffer(begin, pending.length());
        }
    }

    /** Just behind the next blank line; -1 when there is none yet. */
    private static int blankLine(Buffer b, int from) {
        for (int i = from; i + 1 < b.length(); i++) {
            if (b.getByte(i) == '\n') {
                if (b.getByte(i + 1) == '\n') {
                    return i + 2;
                }
                if (b.getByte(i + 1) == '\r' && i + 2 < b.length() && b.getByte(i + 2) == '\n') {
                    return i + 3;
                }
            }
        }
        return -1;
    }

    private void event(String event) {
        String data = event.strip();
        if (!data.startsWith(DATA) || data.indexOf('\n') >= 0) {
            ready.appendString(event);
            return;
        }
        String json = data.substring(DATA.length()).strip();
        if (!json.startsWith("{")) {
            ready.appendString(event); // [DONE]
            return;
        }
        JsonObject chunk;
        try {
            chunk = new JsonObject(json);
        } catch (DecodeException e) {
            ready.appendString(event);
            return;
        }
        if (chunk.containsKey("error") || rewrite(chunk)) {
            ready.appendString(DATA).appendString(" ").appendString(chunk.encode());
            ready.appendString("\n\n");
        }
    }

    /**
     * @return false when nothing is left that the client should get
     */
    private boolean rewrite(JsonObject chunk) {
        for (String name : new String[] {"id", "created", "model", "system_fingerprint"}) {
            if (chunk.containsKey(name) && first.containsKey(name)) {
                chunk.put(name, first.getValue(name));
            }
        }
        if (usage != null) {
            usage.join(chunk);
        }
        if (chunk.getValue("prompt_token_ids") != null) {
            chunk.putNull("prompt_token_ids"); // they were the client's first event's
        }
        if (!(chunk.getValue("choices") instanceof JsonArray choices) || choices.isEmpty()) {
            return true;
        }
        if (!(choices.getValue(0) instanceof JsonObject choice)) {
            return true;
        }
        if (choice.getValue("prompt_token_ids") != null) {
            choice.putNull("prompt_token_ids");
        }
        if (choice.getValue("delta") instanceof JsonObject delta && delta.containsKey("role")) {
            delta.remove("role");
            return !isEmpty(delta.getValue("content"))
                    || !isEmpty(delta.getValue("tool_calls"))
                    || !isEmpty(delta.getValue("reasoning"))
                    || !isEmpty(delta.getValue("reasoning_content"))
                    || choice.getValue("finish_reason") != null
                    || chunk.getValue("usage") != null;
        }
        return true;
    }

    private static boolean isEmpty(@Nullable Object value) {
        return value == null
                || (value instanceof String s && s.isEmpty())
                || (value instanceof JsonArray a && a.isEmpty());
    }
}
