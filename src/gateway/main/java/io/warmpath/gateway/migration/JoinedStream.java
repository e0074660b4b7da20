package io.warmpath.gateway.migration;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.upstream.UpstreamListener;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes an engine's continuation look like the rest of the stream that the client is reading: id,
 * time and model of the first, no second role, usage of both together. Reads every event as JSON: a
 * few microseconds each, for the few streams that were moved. Only whole events are handed on. On
 * the request's event loop.
 */
public final class JoinedStream implements UpstreamListener {
    private static final String DATA = "data:";

    /** More of one event is passed on as it is. */
    private static final int MOST_EVENT = 8 << 20;

    private final JsonNode first;
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
        // An engine of another kind may write no JSON: its own names stay.
        this.first = GatewayJson.tree(new String(firstEvent, StandardCharsets.UTF_8));
        this.next = next;
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
        if (pending.length() > MOST_EVENT) {
            ready.appendBuffer(pending);
            pending = Buffer.buffer();
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
        if (!(GatewayJson.tree(json) instanceof ObjectNode chunk)) {
            ready.appendString(event);
        } else if (chunk.has("error") || rewrite(chunk)) {
            ready.appendString(DATA + " " + chunk + "\n\n");
        }
    }

    /**
     * @return false when nothing is left that the client should get
     */
    private boolean rewrite(ObjectNode chunk) {
        for (String name : new String[] {"id", "created", "model", "system_fingerprint"}) {
            if (chunk.has(name) && first.has(name)) {
                chunk.set(name, first.get(name));
            }
        }
        if (usage != null) {
            usage.join(chunk);
        }
        if (chunk.hasNonNull("prompt_token_ids")) {
            chunk.putNull("prompt_token_ids"); // they were the client's first event's
        }
        if (!chunk.path("choices").isArray()
                || !(chunk.path("choices").path(0) instanceof ObjectNode choice)) {
            return true;
        }
        if (choice.hasNonNull("prompt_token_ids")) {
            choice.putNull("prompt_token_ids");
        }
        if (choice.path("delta") instanceof ObjectNode delta && delta.has("role")) {
            delta.remove("role");
            return !isEmpty(delta.path("content"))
                    || !isEmpty(delta.path("tool_calls"))
                    || !isEmpty(delta.path("reasoning"))
                    || !isEmpty(delta.path("reasoning_content"))
                    || choice.hasNonNull("finish_reason")
                    || chunk.hasNonNull("usage");
        }
        return true;
    }

    private static boolean isEmpty(JsonNode value) {
        return value.isNull()
                || value.isMissingNode()
                || (value.isTextual() && value.textValue().isEmpty())
                || (value.isArray() && value.isEmpty());
    }
}
