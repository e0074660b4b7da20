package io.warmpath.upstream.answer;

import java.util.Arrays;

/**
 * What a stream has said so far, for who may have to go on with it elsewhere: the text of its
 * complete events, the first of them whole, and which kinds of output there were. The text is kept
 * as it stands in the events, JSON's escapes included: one copy of a few bytes per token. May be
 * filled by several streams, one after the other. One thread; memory is asked for as it is needed,
 * and when it is not given nothing more is kept.
 */
public final class StreamText {
    /** Who says how much may be kept. */
    @FunctionalInterface
    public interface Room {
        /** This many bytes more; false: no. */
        boolean take(int bytes);
    }

    private static final byte[] NOTHING = {};
    private static final int FIRST_BYTES = 256;
    private static final int EVENT_BYTES = 320;

    private final Room room;
    private byte[] text = NOTHING;
    private int length;
    private int pieces;
    private byte[] first = NOTHING;
    private byte[] own = NOTHING; // for an event that did not come in one piece
    private byte[] event = NOTHING; // where the event being read lies
    private int eventFrom;
    private int eventTo;
    private int kinds;
    private boolean lost;

    public StreamText(Room room) {
        this.room = room;
    }

    /** Lets go of the event that was read, or broke off with its stream; another one begins. */
    void begin() {
        event = own;
        eventFrom = 0;
        eventTo = 0;
    }

    /** More of it. */
    void data(byte[] b, int from, int to) {
        if (lost || from == to) {
            return;
        }
        if (eventFrom == eventTo) {
            event = b;
            eventFrom = from;
            eventTo = to;
            return;
        }
        retain();
        int n = to - from;
        if (lost || !makeRoom(eventTo + n)) {
            return;
        }
        System.arraycopy(b, from, own, eventTo, n);
        eventTo += n;
    }

    /** The bytes that were given will change: copies those of an unfinished event. */
    void retain() {
        if (lost || event == own || eventFrom == eventTo) {
            return;
        }
        byte[] theirs = event;
        int from = eventFrom;
        int n = eventTo - eventFrom;
        if (makeRoom(n)) {
            System.arraycopy(theirs, from, own, 0, n);
            eventFrom = 0;
            eventTo = n;
        }
    }

    /** In our own array, which the event is then in. */
    private boolean makeRoom(int size) {
        if (size > own.length) {
            int more = Math.max(size, Math.max(EVENT_BYTES, 2 * own.length));
            if (!room.take(more - own.length)) {
                lose();
                return false;
            }
            own = Arrays.copyOf(own, more);
        }
        event = own;
        return true;
    }

    /**
     * Its blank line has come, and its data is one whole JSON object without an error.
     *
     * @param json has read it, and does so again when there is output in it
     */
    void end(AnswerJson json) {
        if (lost) {
            return;
        }
        int end = eventTo;
        if (first.length == 0) {
            first = Arrays.copyOfRange(event, eventFrom, end);
        }
        if (!json.sawToken()) {
            return; // a role, finish or usage: nothing to find in it
        }
        json.reset();
        int opens = json.feedToOutput(event, eventFrom, end);
        while (json.inOutputText()) {
            int closes = opens;
            while (closes < end && event[closes] != '"') {
                closes += event[closes] == '\\' ? 2 : 1;
            }
            closes = Math.min(closes, end);
            if (json.outputKind() == AnswerMember.TEXT_OUTPUT.output()) {
                append(event, opens, closes);
                if (lost) {
                    return;
                }
            }
            json.feed(event, opens, Math.min(closes + 1, end));
            opens = json.feedToOutput(event, Math.min(closes + 1, end), end);
        }
        kinds |= json.outputs();
    }

    /**
     * An event with one output, which is text of this kind.
     *
     * @param kind as {@link AnswerMember#output}
     */
    void text(byte[] b, int from, int to, int kind) {
        if (lost || from == to) {
            return;
        }
        kinds |= kind;
        if (kind == AnswerMember.TEXT_OUTPUT.output()) {
            append(b, from, to);
        }
    }

    private void append(byte[] b, int from, int to) {
        int n = to - from;
        if (n == 0 || lost) {
            return;
        }
        if (length + n > text.length) {
            int size = Math.max(length + n, Math.max(FIRST_BYTES, 2 * text.length));
            if (!room.take(size - text.length)) {
                lose();
                return;
            }
            text = Arrays.copyOf(text, size);
        }
        System.arraycopy(b, from, text, length, n);
        length += n;
        pieces++;
    }

    private void lose() {
        lost = true;
        text = NOTHING;
        own = NOTHING;
        event = NOTHING;
        eventFrom = 0;
        eventTo = 0;
        first = NOTHING;
        length = 0;
    }

    /** There was more than may be kept: nothing is known any more. */
    public boolean isLost() {
        return lost;
    }

    /** The text as the inside of a JSON string. */
    public byte[] escaped() {
        return Arrays.copyOf(text, length);
    }

    /** Events that had text; each has one token or more. */
    public int pieces() {
        return pieces;
    }

    /** Data of the first event. */
    public byte[] firstEvent() {
        return first.clone();
    }

    /** Reasoning came apart from the answer. */
    public boolean hasReasoning() {
        return (kinds & AnswerMember.REASONING_OUTPUT.output()) != 0;
    }

    /** There was output that is neither text nor reasoning, such as tool calls. */
    public boolean hasOther() {
        return (kinds & AnswerMember.OTHER_OUTPUT.output()) != 0;
    }
}
