package io.warmpath.gateway.answer;

import java.util.Arrays;

/**
 * What of an event stream may not be passed on yet: everything before its first token, and the
 * unfinished event at the end, so that what has been passed on always ends between two events and
 * an error event can follow. A client acts on an event only when its blank line has come, so
 * nothing is delayed by this. An event larger than the limit is passed on in pieces; until its end
 * the stream is not clean. One per stream, one thread; memory only while something is held.
 */
final class Holdback {
    /** Where bytes go that may be passed on; they are its until it returns. */
    interface Sink {
        public void pass(byte[] b, int from, int length);
    }

    private static final byte[] NOTHING = {};
    private static final int FIRST_BYTES = 512;

    private final int limit;
    private byte[] held = NOTHING;
    private int length;
    private int complete; // of the held bytes, up to the end of the last complete event
    private boolean insideEvent;

    /** {@code limit}: bytes of an unfinished event that are held. */
    Holdback(int limit) {
        this.limit = limit;
    }

    int length() {
        return length;
    }

    /** Everything passed on so far ends between two events. */
    boolean isClean() {
        return !insideEvent;
    }

    /**
     * Holds all of this.
     *
     * @param eventsEnd how many of the bytes lie before the end of the last complete event
     */
    void hold(byte[] b, int from, int n, int eventsEnd) {
        if (eventsEnd > 0) {
            complete = length + eventsEnd;
        }
        append(b, from, n);
    }

    /** Passes on what is complete, in one call; arguments as {@link #hold}. */
    void pass(byte[] b, int from, int n, int eventsEnd, Sink sink) {
        if (length == 0) {
            if (eventsEnd > 0) {
                insideEvent = false;
                sink.pass(b, from, eventsEnd);
            }
            append(b, from + eventsEnd, n - eventsEnd);
        } else {
            hold(b, from, n, eventsEnd);
            if (complete > 0) {
                insideEvent = false;
                passHeld(complete, sink);
            }
        }
        if (length > 0 && (insideEvent || length > limit)) {
            insideEvent = true;
            passHeld(length, sink);
        }
    }

    /** The stream has ended: passes on everything in one call, which may be of no bytes. */
    void end(byte[] b, int from, int n, Sink sink) {
        if (length == 0) {
            sink.pass(b, from, n);
        } else {
            append(b, from, n);
            passHeld(length, sink);
        }
    }

    /**
     * Takes bytes of what is held out again. {@code from}: within the held bytes; nothing happens
     * when it is not, because they have been passed on.
     */
    void cut(long from, long to) {
        if (from < 0 || to > length) {
            return;
        }
        System.arraycopy(held, (int) to, held, (int) from, (int) (length - to));
        length -= (int) (to - from);
        if (complete >= to) {
            complete -= (int) (to - from);
        }
    }

    /** Lets go of the first {@code n} bytes before it passes them on. */
    private void passHeld(int n, Sink sink) {
        byte[] before = held;
        int rest = length - n;
        held = NOTHING;
        length = 0;
        complete = 0;
        append(before, n, rest);
        sink.pass(before, 0, n);
    }

    private void append(byte[] b, int from, int n) {
        if (n == 0) {
            return;
        }
        if (length + n > held.length) {
            held = Arrays.copyOf(held, Math.max(length + n, Math.max(FIRST_BYTES, 2 * length)));
        }
        System.arraycopy(b, from, held, length, n);
        length += n;
    }
}
