package io.warmpath.api;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.Answer;
import io.warmpath.routing.RoutingDecision;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} that puts the decision into the last chunk of a stream, as {@code nvext.routing}.
 *
 * <p>Events are passed on as they are until one says that a choice has finished; from there on one
 * event is kept back, because only the next one tells whether it was the last. A stream without
 * such an event, and one whose last chunk has an {@code nvext} of its own, stays as it is. For
 * requests that ask to be explained only: it copies. On the request's event loop.
 */
final class ExplainedAnswer implements Answer {
    private static final byte[] FINISH = utf8("\"finish_reason\":");
    private static final byte[] NULL = utf8("null");
    private static final byte[] DATA = utf8("data:");
    private static final byte[] NVEXT = utf8("\"nvext\"");

    private final Answer next;
    private byte @Nullable [] note; // null: nothing to add
    private byte[] unread = {}; // an event's beginning
    private byte[] kept = {}; // the last chunk, when a choice has finished
    private byte[] behind = {}; // comments that came after it
    private boolean finishing;

    ExplainedAnswer(Answer next) {
        this.next = next;
    }

    @Override
    public void explain(RoutingDecision decision) {
        note = utf8("\"nvext\":{\"routing\":" + DecisionJson.of(decision) + "}");
    }

    @Override
    public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        next.head(status, engine, own, keepLength);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (note == null) {
            next.write(b, from, length);
        } else {
            byte[] out = take(b, from, length);
            next.write(out, 0, out.length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (note == null) {
            next.end(b, from, length);
            return;
        }
        byte[] out = joined(take(b, from, length), explained(), behind, unread);
        next.end(out, 0, out.length);
    }

    /** What can be passed on now that these bytes are there, too. */
    private byte[] take(byte[] b, int from, int length) {
        byte[] all = joined(unread, Arrays.copyOfRange(b, from, from + length));
        byte[] out = {};
        int start = 0;
        for (int end = eventEnd(all, 0); end > 0; end = eventEnd(all, start)) {
            byte[] event = Arrays.copyOfRange(all, start, end);
            start = end;
            finishing |= saysFinished(event);
            if (!finishing) {
                out = joined(out, event);
            } else if (isChunk(event)) {
                out = joined(out, kept, behind);
                kept = event;
                behind = new byte[0];
            } else if (event[0] == ':') {
                behind = joined(behind, event);
            } else {
                // [DONE]
                out = joined(out, explained(), behind, event);
                kept = new byte[0];
                behind = new byte[0];
            }
        }
        unread = Arrays.copyOfRange(all, start, all.length);
        return out;
    }

    /** The event that is kept, with the decision in it. */
    private byte[] explained() {
        byte[] added = note;
        int close = lastIndexOf(kept, (byte) '}');
        if (added == null || close < 0 || find(kept, NVEXT, 0) >= 0) {
            return kept;
        }
        int before = close - 1;
        while (before >= 0 && kept[before] <= ' ') {
            before--;
        }
        byte[] comma = utf8(before >= 0 && kept[before] == '{' ? "" : ",");
        return joined(
                Arrays.copyOf(kept, close),
                comma,
                added,
                Arrays.copyOfRange(kept, close, kept.length));
    }

    private static boolean saysFinished(byte[] event) {
        for (int at = find(event, FINISH, 0); at >= 0; at = find(event, FINISH, at + 1)) {
            int value = at + FINISH.length;
            while (value < event.length && event[value] == ' ') {
                value++;
            }
            if (find(event, NULL, value) != value) {
                return true;
            }
        }
        return false;
    }

    /** Its data is a JSON object. */
    private static boolean isChunk(byte[] event) {
        int data = find(event, DATA, 0);
        int value = data + DATA.length;
        while (data >= 0 && value < event.length && event[value] == ' ') {
            value++;
        }
        return data >= 0 && value < event.length && event[value] == '{';
    }

    /** Behind the blank line that ends the event, or -1. */
    private static int eventEnd(byte[] b, int from) {
        for (int i = from; i < b.length; i++) {
            if (b[i] == '\n' && i > from) {
                int before = b[i - 1] == '\r' ? i - 2 : i - 1;
                if (before >= from && b[before] == '\n') {
                    return i + 1;
                }
            }
        }
        return -1;
    }

    private static int find(byte[] in, byte[] what, int from) {
        for (int i = from; i <= in.length - what.length; i++) {
            if (Arrays.equals(in, i, i + what.length, what, 0, what.length)) {
                return i;
            }
        }
        return -1;
    }

    private static int lastIndexOf(byte[] in, byte what) {
        int i = in.length - 1;
        while (i >= 0 && in[i] != what) {
            i--;
        }
        return i;
    }

    private static byte[] joined(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] all = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void fail(GatewayError error) {
        next.fail(error);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        byte[] rest = joined(kept, behind);
        next.write(rest, 0, rest.length);
        next.endWithErrorEvent(error);
    }

    @Override
    public void reset() {
        next.reset();
    }

    @Override
    public boolean isFull() {
        return next.isFull();
    }

    @Override
    public void onDrain(Runnable action) {
        next.onDrain(action);
    }
}
