package io.warmpath.gateway;

import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * Holds back the unfinished event at the end of what has arrived, so that the bytes passed on
 * always end between two events and an error event can follow.
 *
 * <p>A client acts on an event only when its blank line has come, so nothing is delayed by this. An
 * event larger than the limit is passed on in pieces; until its end the stream is not clean.
 */
final class EventTail {
    private final int limit;
    private @Nullable Buffer tail;
    private boolean insideEvent;

    EventTail(int limit) {
        this.limit = limit;
    }

    /**
     * @param complete bytes of {@code chunk} up to the end of its last complete event
     * @return what to pass on, or null
     */
    @Nullable Buffer add(Buffer chunk, int complete) {
        int length = chunk.length();
        if (complete == length && tail == null) {
            insideEvent = false;
            return chunk;
        }
        if (complete > 0) {
            Buffer out =
                    tail == null
                            ? chunk.getBuffer(0, complete)
                            : tail.appendBuffer(chunk, 0, complete);
            insideEvent = false;
            tail = complete == length ? null : chunk.getBuffer(complete, length);
            return out;
        }
        Buffer all = tail == null ? chunk : tail.appendBuffer(chunk);
        if (insideEvent || all.length() > limit) {
            insideEvent = true;
            tail = null;
            return all;
        }
        tail = all;
        return null;
    }

    /** The last, unfinished bytes of a stream that ended in order. */
    @Nullable Buffer takeRest() {
        Buffer rest = tail;
        tail = null;
        return rest;
    }

    /** Everything passed on so far ends between two events. */
    boolean isClean() {
        return !insideEvent;
    }
}
