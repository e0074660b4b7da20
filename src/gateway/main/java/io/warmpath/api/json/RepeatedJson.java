package io.warmpath.api.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads events of SGLang's {@code /generate}, each of which repeats the whole text and all ids of
 * the answer so far. What an event repeats of the one before is compared, not read: of an answer of
 * n tokens each id is read once, though n² / 2 come over the wire. Events of an engine that streams
 * increments are read as well. One answer, one thread.
 */
public final class RepeatedJson {
    /** Gets the members that are not repeated. */
    public interface Members {
        /** Another member of the event's object. */
        void member(String name, byte[] b, int from, int to) throws IOException;
    }

    /** The content of a string or array: it was there at {@code from} of the last event. */
    private static final class Stretch {
        private int from;
        private int length;

        boolean repeats(byte[] last, byte[] b, int at, int to) {
            return at + length < to && Arrays.equals(last, from, from + length, b, at, at + length);
        }

        void set(int start, int end) {
            from = start;
            length = end - start;
        }
    }

    private final Stretch text = new Stretch();
    private final Stretch ids = new Stretch();
    private byte[] last = {};
    private int lastCount;

    // The event being read.
    private byte[] b = {};
    private int at;
    private int end;
    private int idsFrom;
    private int count;
    private int[] fresh = new int[16];
    private int freshCount;
    private long read;

    /** Bytes read one by one so far, not those that were compared. */
    long bytesRead() {
        return read;
    }

    /** Ids in the event. */
    public int ids() {
        return count;
    }

    /**
     * One event's data.
     *
     * @param event not changed before the next call returns
     * @throws IOException when it is not a JSON object
     */
    public void read(byte[] event, int from, int to, Members members) throws IOException {
        boolean whole = false;
        try {
            object(event, from, to, members);
            whole = true;
        } finally {
            if (!whole) {
                text.set(0, 0);
                ids.set(0, 0);
                lastCount = 0;
            }
            last = event;
        }
    }

    private void object(byte[] event, int from, int to, Members members) throws IOException {
        b = event;
        at = from;
        end = to;
        count = 0;
        freshCount = 0;
        idsFrom = -1;
        boolean sawText = false;
        expect('{');
        if (peek() != '}') {
            do {
                String name = name();
                expect(':');
                byte first = peek();
                if (name.equals("text") && first == '"') {
                    text();
                    sawText = true;
                } else if (name.equals("output_ids") && first == '[') {
                    idsFrom = at + 1;
                    outputIds(true);
                } else {
                    int start = at;
                    skip();
                    members.member(name, b, start, at);
                }
            } while (more());
        } else {
            at++;
        }
        if (at < end && peek() != 0) {
            throw new IOException("something behind the object");
        }
        if (!sawText) {
            text.set(0, 0);
        }
        if (idsFrom < 0) {
            ids.set(0, 0);
            lastCount = 0;
        }
    }

    /** Where the event's text begins, behind the quote; as JSON writes it. */
    public int textFrom() {
        return text.from;
    }

    /** Its length in bytes; 0 when the event has none. */
    public int textLength() {
        return text.length;
    }

    /** The event's last {@code n} ids. */
    public int[] newest(int n) throws IOException {
        if (n > freshCount && n <= count) {
            // An increment that looks like a repetition of the one before.
            at = idsFrom;
            outputIds(false);
        }
        return Arrays.copyOfRange(fresh, freshCount - Math.min(n, freshCount), freshCount);
    }

    private void text() throws IOException {
        int start = at + 1;
        at = text.repeats(last, b, start, end) ? start + text.length : start;
        endOfString();
        text.set(start, at - 1);
    }

    /** From behind the bracket to behind the closing one. */
    private void outputIds(boolean mayRepeat) throws IOException {
        int start = idsFrom;
        at = start;
        int known = 0;
        if (mayRepeat && ids.length > 0 && ids.repeats(last, b, start, end)) {
            byte follows = b[start + ids.length];
            if (follows == ',' || follows == ']') { // else the last number goes on
                at = start + ids.length;
                known = lastCount;
            }
        }
        freshCount = 0;
        if (peek() == ']') {
            at++;
        } else {
            at += known > 0 ? 1 : 0; // the comma
            numbers();
        }
        done(start, known + freshCount);
    }

    private void done(int start, int total) {
        count = total;
        lastCount = total;
        ids.set(start, at - 1);
    }

    private void numbers() throws IOException {
        while (true) {
            peek();
            int begin = at;
            long id = 0;
            while (at < end && b[at] >= '0' && b[at] <= '9' && id <= 0xffffffffL) {
                id = id * 10 + (b[at++] - '0');
            }
            read += at - begin;
            if (at == begin || id > 0xffffffffL) {
                throw new IOException("not a token id");
            }
            if (freshCount == fresh.length) {
                fresh = Arrays.copyOf(fresh, 2 * freshCount);
            }
            fresh[freshCount++] = (int) id;
            byte c = peek();
            at++;
            read++;
            if (c == ']') {
                return;
            }
            if (c != ',') {
                throw new IOException("not an array of token ids");
            }
        }
    }

    private String name() throws IOException {
        if (peek() != '"') {
            throw new IOException("a name is missing");
        }
        int start = ++at;
        endOfString();
        return new String(b, start, at - 1 - start, StandardCharsets.UTF_8);
    }

    /** From inside a string to behind its closing quote. */
    private void endOfString() throws IOException {
        int begin = at;
        while (at < end && b[at] != '"') {
            at += b[at] == '\\' ? 2 : 1;
        }
        if (at >= end) {
            throw new IOException("a string does not end");
        }
        at++;
        read += at - begin;
    }

    /** Over one value. */
    private void skip() throws IOException {
        int depth = 0;
        do {
            byte c = peek();
            at++;
            read++;
            switch (c) {
                case '{', '[' -> depth++;
                case '}', ']' -> depth--;
                case '"' -> endOfString();
                case 0 -> throw new IOException("a value does not end");
                default -> {
                    if (depth == 0) {
                        while (at < end && ",}] \t".indexOf(b[at]) < 0) {
                            at++;
                            read++;
                        }
                    }
                }
            }
        } while (depth > 0);
    }

    /** Another member follows; else behind the closing brace. */
    private boolean more() throws IOException {
        byte c = peek();
        at++;
        if (c != ',' && c != '}') {
            throw new IOException("neither another member nor the end");
        }
        return c == ',';
    }

    private void expect(char wanted) throws IOException {
        if (peek() != wanted) {
            throw new IOException("no " + wanted);
        }
        at++;
    }

    /** The next byte that is no blank, which {@code at} stands on then; 0 at the end. */
    private byte peek() {
        while (at < end && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r')) {
            at++;
            read++;
        }
        return at < end ? b[at] : 0;
    }
}
