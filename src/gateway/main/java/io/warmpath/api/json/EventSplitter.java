package io.warmpath.api.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Cuts an event stream into the data of its events; the bytes may be cut anywhere. One thread. Each
 * byte is copied once and looked at for a line's end, eight at a time. An event that is too long
 * ends the reading.
 */
public final class EventSplitter {
    /** Gets the data of each event. */
    public interface Events {
        /** The bytes stay as they are until the event after the next one begins. */
        void event(byte[] b, int from, int to);
    }

    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final byte[] FIELD = {'d', 'a', 't', 'a', ':'};

    /** Engines that repeat the whole text in each event stay below. */
    static final int MOST_EVENT = 8 << 20;

    private final Events events;
    private final IntPredicate room;

    /** The event being read: its data so far, then the line so far. */
    private byte[] buffer = new byte[1024];

    private byte[] other = new byte[1024];
    private int length;
    private int lineStart;
    private int dataStart = -1;
    private int dataEnd;

    private boolean tooLong;

    public EventSplitter(Events events) {
        this(events, bytes -> true);
    }

    /** {@code room}: whether there is memory for so many bytes more. */
    public EventSplitter(Events events, IntPredicate room) {
        this.events = events;
        this.room = room;
    }

    /** An event has no end, or there is no memory for it: nothing is read any more. */
    public boolean tooLong() {
        return tooLong;
    }

    public void add(byte[] b, int from, int size) {
        int end = from + size;
        int start = from;
        while (start < end && !tooLong) {
            int newline = find(b, start, end);
            append(b, start, newline);
            if (newline == end || tooLong) {
                return;
            }
            line();
            start = newline + 1;
        }
    }

    private void append(byte[] b, int from, int to) {
        int size = to - from;
        if (buffer.length - length < size) {
            int larger = Math.max(length + size, 2 * buffer.length);
            if (length + size > MOST_EVENT || !room.test(larger - buffer.length)) {
                tooLong = true;
                buffer = new byte[0];
                length = 0;
                return;
            }
            buffer = Arrays.copyOf(buffer, larger);
        }
        System.arraycopy(b, from, buffer, length, size);
        length += size;
    }

    private void line() {
        int end = length > lineStart && buffer[length - 1] == '\r' ? length - 1 : length;
        if (end == lineStart) {
            ended();
        } else if (end - lineStart >= FIELD.length
                && Arrays.equals(buffer, lineStart, lineStart + FIELD.length, FIELD, 0, 5)) {
            data(lineStart + FIELD.length, end);
        }
        // Else a comment, or a field that tells nothing.
        length = dataStart < 0 ? 0 : dataEnd;
        lineStart = length;
    }

    private void data(int from, int end) {
        int begin = from < end && buffer[from] == ' ' ? from + 1 : from;
        if (dataStart < 0) {
            dataStart = begin;
            dataEnd = end;
        } else {
            // Several lines of data are one, with line ends between them.
            buffer[dataEnd] = '\n';
            System.arraycopy(buffer, begin, buffer, dataEnd + 1, end - begin);
            dataEnd += 1 + end - begin;
        }
    }

    private void ended() {
        if (dataStart < 0) {
            return;
        }
        byte[] full = buffer;
        int from = dataStart;
        int to = dataEnd;
        buffer = other;
        other = full;
        length = 0;
        dataStart = -1;
        events.event(full, from, to);
    }

    /** Where the first line end is, or {@code to}. */
    private static int find(byte[] b, int from, int to) {
        int i = from;
        for (; i <= to - Long.BYTES; i += Long.BYTES) {
            long x = (long) WORDS.get(b, i) ^ '\n' * ONES;
            long hit = (x - ONES) & ~x & HIGHS;
            if (hit != 0) {
                return i + (Long.numberOfTrailingZeros(hit) >>> 3);
            }
        }
        while (i < to && b[i] != '\n') {
            i++;
        }
        return i;
    }
}
