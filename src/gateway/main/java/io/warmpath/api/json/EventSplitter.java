package io.warmpath.api.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Cuts an event stream into the data of its events; the bytes may be cut anywhere. One thread. Each
 * byte is copied once and looked at for a line's end, eight at a time.
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

    private final Events events;

    /** The event being read: its data so far, then the line so far. */
    private byte[] buffer = new byte[1024];

    private byte[] other = new byte[1024];
    private int length;
    private int lineStart;
    private int dataStart = -1;
    private int dataEnd;

    public EventSplitter(Events events) {
        this.events = events;
    }

    public void add(byte[] b, int from, int size) {
        int end = from + size;
        int start = from;
        while (start < end) {
            int newline = find(b, start, end);
            append(b, start, newline);
            if (newline == end) {
                return;
            }
            line();
            start = newline + 1;
        }
    }

    private void append(byte[] b, int from, int to) {
        int size = to - from;
        if (buffer.length - length < size) {
            buffer = Arrays.copyOf(buffer, Math.max(length + size, 2 * buffer.length));
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
