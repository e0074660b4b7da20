package io.warmpath.upstream.answer;

import org.jspecify.annotations.Nullable;

/**
 * Reads along with an engine's answer: first token, usage, finish, errors, {@code [DONE]}.
 *
 * <p>Changes nothing of the answer; allocates nothing per chunk. An event that lies in one piece
 * and differs from an earlier one in its text only is recognised by its {@link EventPattern}, all
 * others are read byte by byte. The bytes may be cut anywhere. Follows the event-stream rules: CR,
 * LF and CRLF end lines, several data lines join with a newline, an event counts when its blank
 * line has come, events with a name other than {@code message} carry no tokens, what follows {@code
 * [DONE]} is ignored. One thread.
 */
public final class AnswerScanner {
    /** Cached tokens are those that this answer tells of. */
    public static final long TOLD_HERE = -2;

    private static final byte[] DATA = {'d', 'a', 't', 'a'};
    private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};
    private static final byte[] MESSAGE = {'m', 'e', 's', 's', 'a', 'g', 'e'};
    private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
    private static final byte[] NEWLINE = {'\n'};

    private enum LineState {
        START,
        FIELD,
        COLON,
        DATA_VALUE,
        EVENT_VALUE,
        IGNORED_VALUE,
        COMMENT
    }

    private final boolean events;
    private final AnswerJson json = new AnswerJson();
    private final @Nullable EventPattern pattern;
    private final @Nullable StreamText kept;

    // Line state
    private LineState line = LineState.START;
    private boolean swallowLf;
    private int
            mark; // bytes of a byte order mark seen; -1 when the stream's first byte is behind us
    private final byte[] field = new byte[6];
    private int fieldLength;

    // The event being read
    private boolean pending; // a field line has come since the last blank line
    private int dataLines;
    private int dataLength;
    private boolean dataIsDone;
    private int nameLength;
    private boolean nameIsMessage;

    // Places in the stream, in bytes from its start
    private long position; // of the first byte of this call
    private int eventsAndBlanks;
    private boolean usageOnly;
    private long eventStart;
    private long usageStart = -1;
    private long usageEnd = -1;

    // What has been seen
    private int eventCount;
    private int comments;
    private int errors;
    private int malformed;
    private int firstTokenEvent = -1;
    private boolean sawToken;
    private boolean finished;
    private boolean done;
    private long promptTokens = -1;
    private long completionTokens = -1;
    private long cachedTokens = -1;
    private long elsewhere = TOLD_HERE;

    private AnswerScanner(boolean events, boolean usePattern, @Nullable StreamText kept) {
        this.kept = kept;
        this.events = events;
        this.pattern = usePattern ? new EventPattern() : null;
        json.reset();
    }

    /** For {@code text/event-stream}. */
    public static AnswerScanner ofEvents() {
        return ofEvents(null);
    }

    /**
     * For {@code text/event-stream}.
     *
     * @param kept gets the text of every complete event; null: the text is not kept
     */
    public static AnswerScanner ofEvents(@Nullable StreamText kept) {
        if (kept != null) {
            kept.begin();
        }
        return new AnswerScanner(true, true, kept);
    }

    /** Takes every event byte by byte; what the short way has to agree with. */
    static AnswerScanner ofEventsWithoutPattern() {
        return new AnswerScanner(true, false, null);
    }

    /** For one JSON document. */
    public static AnswerScanner ofJson() {
        return new AnswerScanner(false, false, null);
    }

    /**
     * @return for event streams how many of these bytes lie before the end of the last complete
     *     event or comment; for JSON the length
     */
    public int scan(byte[] b, int from, int length) {
        if (!events) {
            json.feed(b, from, from + length);
            takeUsage();
            return length;
        }
        int end = from + length;
        int boundary = from;
        int p = from;
        while (p < end) {
            EventPattern known = pattern;
            if (known != null && line == LineState.START && !pending && !swallowLf && mark < 0) {
                int next = wholeEvent(known, b, p, end);
                if (next > p) {
                    boundary = next;
                    p = next;
                    eventStart = position + (p - from);
                    continue;
                }
            }
            int before = eventsAndBlanks;
            p = step(b, p, end);
            if (eventsAndBlanks != before) {
                blankLineBehind(position + (p - from));
            }
            if (line == LineState.START
                    && !pending
                    && (mark <= 0 || mark == BYTE_ORDER_MARK.length)) {
                boundary = p;
            }
        }
        if (kept != null) {
            kept.retain();
        }
        position += length;
        return boundary - from;
    }

    /** An event, or nothing, has ended with a blank line just before {@code end}. */
    private void blankLineBehind(long end) {
        if (usageOnly) {
            usageOnly = false;
            usageStart = eventStart;
            usageEnd = end;
        }
        eventStart = end;
    }

    /**
     * The short way for an event that lies here whole and differs from an earlier one in its text
     * only. Returns just behind it; {@code p} when it has to be read byte by byte.
     */
    private int wholeEvent(EventPattern known, byte[] b, int p, int end) {
        int next = known.match(b, p, end);
        if (next < 0 && known.learn(b, p, end, json)) {
            next = known.match(b, p, end);
        }
        if (next < 0) {
            return p;
        }
        if (kept != null && !done) {
            kept.text(b, known.textStart(), known.textEnd(), known.kind());
        }
        int number = eventCount++;
        if (!done && known.matchedText() && !sawToken) {
            sawToken = true;
            firstTokenEvent = number;
        }
        return next;
    }

    /** Consumes at least one byte, at most to the end of the line. */
    private int step(byte[] b, int p, int end) {
        byte c = b[p];
        if (swallowLf) {
            swallowLf = false;
            if (c == '\n') {
                return p + 1;
            }
        }
        switch (line) {
            case START -> {
                if (mark >= 0) {
                    if (mark < BYTE_ORDER_MARK.length && c == BYTE_ORDER_MARK[mark]) {
                        mark++;
                        return p + 1;
                    }
                    boolean half = mark > 0 && mark < BYTE_ORDER_MARK.length;
                    int seen = mark;
                    mark = -1;
                    if (half) { // no mark after all, but the start of an unknown field's name
                        fieldLength = seen;
                        line = LineState.FIELD;
                        return p;
                    }
                }
                if (c == '\n' || c == '\r') {
                    blankLine();
                    return endLine(c, p);
                }
                if (c == ':') {
                    line = LineState.COMMENT;
                    return p + 1;
                }
                fieldLength = 0;
                line = LineState.FIELD;
                return p; // read again as the field's first byte
            }
            case FIELD -> {
                return fieldName(b, p, end);
            }
            case COLON -> {
                line = valueState();
                return c == ' ' ? p + 1 : p;
            }
            default -> {
                return value(b, p, end);
            }
        }
    }

    private int fieldName(byte[] b, int p, int end) {
        while (p < end) {
            byte c = b[p];
            if (c == '\n' || c == '\r') {
                line = valueState(); // a field without a colon has an empty value
                return endOfValue(c, p);
            }
            if (c == ':') {
                line = LineState.COLON;
                return p + 1;
            }
            if (fieldLength < field.length) {
                field[fieldLength] = c;
            }
            fieldLength++;
            p++;
        }
        return p;
    }

    private LineState valueState() {
        pending = true;
        if (isField(DATA)) {
            if (dataLines == 0) {
                json.reset();
                dataLength = 0;
                dataIsDone = true;
            } else {
                data(NEWLINE, 0, 1);
            }
            dataLines++;
            return LineState.DATA_VALUE;
        }
        if (isField(EVENT)) {
            nameLength = 0;
            nameIsMessage = true;
            return LineState.EVENT_VALUE;
        }
        return LineState.IGNORED_VALUE;
    }

    private boolean isField(byte[] name) {
        if (fieldLength != name.length) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (field[i] != name[i]) {
                return false;
            }
        }
        return true;
    }

    private int value(byte[] b, int p, int end) {
        int q = p;
        while (q < end && b[q] != '\n' && b[q] != '\r') {
            q++;
        }
        if (line == LineState.DATA_VALUE) {
            data(b, p, q);
        } else if (line == LineState.EVENT_VALUE) {
            name(b, p, q);
        }
        return q == end ? end : endOfValue(b[q], q);
    }

    private void data(byte[] b, int p, int q) {
        for (int i = p; dataIsDone && i < q; i++) {
            int at = dataLength + i - p;
            dataIsDone = at < DONE.length && b[i] == DONE[at];
        }
        dataLength += q - p;
        json.feed(b, p, q);
        if (kept != null) {
            kept.data(b, p, q);
        }
    }

    private void name(byte[] b, int p, int q) {
        for (int i = p; nameIsMessage && i < q; i++) {
            int at = nameLength + i - p;
            nameIsMessage = at < MESSAGE.length && b[i] == MESSAGE[at];
        }
        nameLength += q - p;
    }

    private int endOfValue(byte c, int p) {
        if (line == LineState.COMMENT) {
            comments++;
        }
        return endLine(c, p);
    }

    private int endLine(byte c, int p) {
        line = LineState.START;
        swallowLf = c == '\r';
        return p + 1;
    }

    private void blankLine() {
        eventsAndBlanks++;
        if (dataLines > 0) {
            dispatch();
            if (kept != null) {
                kept.begin();
            }
        }
        pending = false;
        dataLines = 0;
        nameLength = 0;
        nameIsMessage = true;
    }

    private void dispatch() {
        int number = eventCount++;
        boolean named = nameLength > 0 && !(nameIsMessage && nameLength == MESSAGE.length);
        if (named || done) {
            return;
        }
        if (dataIsDone && dataLength == DONE.length) {
            done = true;
        } else if (!json.isComplete()) {
            malformed++;
        } else if (json.sawError()) {
            errors++;
        } else {
            if (json.sawToken() && !sawToken) {
                sawToken = true;
                firstTokenEvent = number;
            }
            if (kept != null) {
                kept.end(json);
            }
            if (pattern != null && (json.sawFinish() || json.sawUsage())) {
                pattern.comesOnce();
            }
            finished |= json.sawFinish();
            usageOnly = json.isUsageOnly();
            takeUsage();
        }
    }

    private void takeUsage() {
        if (json.sawUsage()) {
            promptTokens = json.promptTokens();
            completionTokens = json.completionTokens();
            cachedTokens = json.cachedTokens();
        }
    }

    /** Some output was generated: text, reasoning, a tool call or token ids. */
    public boolean sawToken() {
        return sawToken;
    }

    /** A token, or anything else that the client should get without waiting for a token. */
    public boolean sawAnything() {
        return sawToken || comments > 0 || errors > 0 || malformed > 0 || finished || done;
    }

    /** Number of the event with the first token, from 0; -1 when there is none yet. */
    int firstTokenEvent() {
        return firstTokenEvent;
    }

    /** Complete events so far; engines send one per token, and two or three more. */
    public int events() {
        return eventCount;
    }

    int comments() {
        return comments;
    }

    /** Events that are an {@code error} object. */
    int errors() {
        return errors;
    }

    /** Events whose data is neither a JSON object nor {@code [DONE]}. */
    int malformed() {
        return malformed;
    }

    /** Some choice has its finish reason. */
    public boolean finished() {
        return finished;
    }

    /** {@code [DONE]} has come: nothing of the stream is missing. */
    public boolean done() {
        return done;
    }

    /**
     * Where the last event that reports usage and nothing else begins, in bytes from the start of
     * the stream; -1 when there was none.
     */
    public long usageStart() {
        return usageStart;
    }

    /** Just behind that event's blank line; of a blank line that is CRLF maybe before its LF. */
    public long usageEnd() {
        return usageEnd;
    }

    /** Of the last usage seen; -1 when it was not reported. */
    public long promptTokens() {
        return promptTokens;
    }

    /** Of the last usage seen; -1 when it was not reported. */
    public long completionTokens() {
        return completionTokens;
    }

    /** Cached prompt tokens of the last usage seen; -1 when they were not reported. */
    public long cachedTokens() {
        return elsewhere == TOLD_HERE ? cachedTokens : elsewhere;
    }

    /**
     * Whoever computed the prompt for this engine has found so many tokens cached: this one may
     * count what it was handed.
     *
     * @param cachedPromptTokens -1: not known; {@link #TOLD_HERE}: it was computed here
     */
    public void foundElsewhere(long cachedPromptTokens) {
        elsewhere = cachedPromptTokens;
    }
}
