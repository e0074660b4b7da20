package io.warmpath.gateway.flow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.upstream.UpstreamListener;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at an engine's answer for a {@link FullQueue} before anybody else does: at the body of an
 * error that may be one, and at the first event of a stream, which is where SGLang tells it once
 * the status is 200. Nothing is changed of the answer; an error's head comes with its end, all of a
 * stream as it comes. On the call's event loop.
 */
final class FirstLook implements UpstreamListener {
    /** A longer beginning is passed on unread. */
    private static final int MOST_BYTES = 16 << 10;

    private static final byte[] DATA = bytes("data:");
    private static final byte[][] ERRORS = {bytes("\"error\""), bytes("\"abort\"")};

    /** Events of the responses API that come before the engine's scheduler has seen the request. */
    private static final byte[][] PREAMBLE = {
        bytes("\"response.created\""),
        bytes("\"response.queued\""),
        bytes("\"response.in_progress\"")
    };

    private final UpstreamListener next;
    private final Consumer<Duration> full;
    private @Nullable MultiMap headers; // while it is looked at
    private @Nullable ByteArrayOutputStream read; // of what is looked at, what has come
    private int status;

    /**
     * @param full gets the pause of an engine whose queue is full, before the head of such an error
     *     and before the event of such a stream
     */
    FirstLook(UpstreamListener next, Consumer<Duration> full) {
        this.next = next;
        this.full = full;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void head(int code, MultiMap engine) {
        status = code;
        boolean refusal = code >= 400 && FullQueue.maySay(code);
        if (refusal || (code == 200 && isEvents(engine))) {
            headers = engine;
        }
        if (!refusal) {
            next.head(code, engine);
        }
    }

    private static boolean isEvents(MultiMap headers) {
        String type = headers.get("content-type");
        return type != null
                && type.regionMatches(true, 0, "text/event-stream", 0, 17)
                && !headers.contains("content-encoding");
    }

    @Override
    public void data(byte[] b, int from, int length) {
        MultiMap head = headers;
        if (head != null && status == 200) {
            lookAt(b, from, length, head);
        } else if (head != null) {
            ByteArrayOutputStream all = gathered(b, from, length);
            if (all.size() > MOST_BYTES) {
                passHeld(head);
            }
            return;
        }
        next.data(b, from, length);
    }

    @Override
    public void end(byte[] b, int from, int length) {
        MultiMap head = headers;
        if (head == null || status == 200) {
            if (head != null) {
                lookAt(b, from, length, head);
            }
            next.end(b, from, length);
            return;
        }
        byte[] all = gathered(b, from, length).toByteArray();
        if (FullQueue.says(status, head, tree(all, 0, all.length))) {
            full.accept(FullQueue.pause(head));
        }
        next.head(status, head);
        next.end(all, 0, all.length);
    }

    @Override
    public void failed(GatewayError error) {
        MultiMap head = headers;
        if (head != null && status != 200) {
            passHeld(head);
        }
        next.failed(error);
    }

    private void passHeld(MultiMap head) {
        ByteArrayOutputStream held = read;
        headers = null;
        read = null;
        next.head(status, head);
        if (held != null) {
            next.data(held.toByteArray(), 0, held.size());
        }
    }

    private ByteArrayOutputStream gathered(byte[] b, int from, int length) {
        ByteArrayOutputStream all = read == null ? new ByteArrayOutputStream(length) : read;
        read = all;
        all.write(b, from, length);
        return all;
    }

    private void lookAt(byte[] b, int from, int length, MultiMap head) {
        boolean seen;
        if (read == null && isSeen(b, from, length, head)) {
            seen = true; // nearly always: nothing is copied
        } else {
            byte[] all = gathered(b, from, length).toByteArray();
            seen = all.length > MOST_BYTES || isSeen(all, 0, all.length, head);
        }
        if (seen) {
            headers = null;
            read = null;
        }
    }

    /** The first event that says anything lies here whole, and has been judged. */
    private boolean isSeen(byte[] b, int from, int length, MultiMap head) {
        int end = from + length;
        for (int line = from; line < end; ) {
            int stop = line;
            while (stop < end && b[stop] != '\n' && b[stop] != '\r') {
                stop++;
            }
            if (stop == end) {
                return false;
            }
            boolean data = stop - line >= DATA.length && has(b, line, line + DATA.length, DATA);
            if (data && !hasAny(b, line, stop, PREAMBLE)) {
                int value = line + DATA.length;
                if (hasAny(b, value, stop, ERRORS)
                        && FullQueue.says(head, tree(b, value, stop - value))) {
                    full.accept(FullQueue.pause(head));
                }
                return true;
            }
            line = stop + 1;
        }
        return false;
    }

    private static JsonNode tree(byte[] b, int from, int length) {
        return length == 0
                ? MissingNode.getInstance()
                : GatewayJson.tree(new String(b, from, length, StandardCharsets.UTF_8));
    }

    private static boolean hasAny(byte[] b, int from, int to, byte[][] words) {
        for (byte[] word : words) {
            if (has(b, from, to, word)) {
                return true;
            }
        }
        return false;
    }

    private static boolean has(byte[] b, int from, int to, byte[] word) {
        for (int i = from; i <= to - word.length; i++) {
            int same = 0;
            while (same < word.length && b[i + same] == word[same]) {
                same++;
            }
            if (same == word.length) {
                return true;
            }
        }
        return false;
    }
}
