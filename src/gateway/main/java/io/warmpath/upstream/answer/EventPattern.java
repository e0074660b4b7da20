package io.warmpath.upstream.answer;

import java.util.Arrays;

/**
 * One event of a stream with a gap where its text is, so that the next event can be recognised by
 * comparing bytes instead of reading its JSON.
 *
 * <p>An engine writes one chunk per token, and two chunks differ in the token's text only. What
 * {@link AnswerJson} makes of an event depends on nothing but its bytes, so equal bytes around the
 * text mean the same: a whole object without error, usage or finish reason, in which the text alone
 * decides whether there is a token. An event with anything else is never learned.
 *
 * <p>One per stream, one thread. Allocates when it learns, once or twice a stream; a stream whose
 * events keep changing is given up on.
 */
final class EventPattern {
    /** Longer events are rare and read byte by byte. */
    private static final int MAX_BYTES = 1024;

    /** Attempts to learn, each of which reads one event once more, that need not have paid. */
    private static final int FREE_ATTEMPTS = 6;

    /** Matches since the last attempt that have paid for the next one. */
    private static final int PAID = 4;

    private static final byte[] START = {'d', 'a', 't', 'a', ':', ' ', '{'};

    private byte[] bytes = {};
    private int gap; // where the text begins, just behind its opening quote
    private int tail; // where the text ended: its closing quote; to the end of the blank line
    private int kind;
    private boolean text;
    private int textStart;
    private int textEnd;
    private int attempts;
    private int matches; // since the last attempt
    private boolean missed; // the event before was none of this pattern either

    /** Of the last match: its text is not empty. */
    boolean matchedText() {
        return text;
    }

    /**
     * @param p the first byte of a line, with no event open
     * @return just behind the event's blank line, -1 when it is another kind of event or its end is
     *     not here
     */
    int match(byte[] b, int p, int end) {
        int tailLength = bytes.length - tail;
        int from = p + gap;
        if (gap == 0
                || end - from < tailLength
                || Arrays.mismatch(b, p, from, bytes, 0, gap) >= 0) {
            return -1;
        }
        int last = end - tailLength; // the closing quote cannot be behind this
        int q = from;
        while (q <= last) {
            byte c = b[q];
            if (c == '"') {
                if (Arrays.mismatch(b, q, q + tailLength, bytes, tail, bytes.length) >= 0) {
                    return -1;
                }
                text = q > from;
                textStart = from;
                textEnd = q;
                matches++;
                missed = false;
                return q + tailLength;
            }
            if (c == '\n' || c == '\r') {
                return -1;
            }
            if (c == '\\') {
                q++;
                if (q > last || b[q] == '\n' || b[q] == '\r') {
                    return -1;
                }
            }
            q++;
        }
        return -1;
    }

    /** Where the text of the last match lies. */
    int textStart() {
        return textStart;
    }

    /** Just behind it. */
    int textEnd() {
        return textEnd;
    }

    /** What kind of output the pattern's text is, as {@link AnswerMember#output}. */
    int kind() {
        return kind;
    }

    /** The event that was not matched comes once or twice a stream: its like is not looked for. */
    void comesOnce() {
        missed = false;
    }

    /**
     * Takes the event at {@code p} as the new pattern, if it lies here whole and is fit for it; it
     * is matched by it then.
     *
     * @param json in the midst of nothing; is left in any state
     * @return true when it was taken
     */
    boolean learn(byte[] b, int p, int end, AnswerJson json) {
        if (!missed) {
            missed = true; // one that comes once, such as the role, is not worth an attempt
            return false;
        }
        if (!startsAt(b, p, end) || (attempts >= FREE_ATTEMPTS && matches < PAID)) {
            return false;
        }
        int limit = Math.min(end, p + MAX_BYTES);
        int lineEnd = p;
        while (lineEnd < limit && b[lineEnd] != '\n' && b[lineEnd] != '\r') {
            lineEnd++;
        }
        boolean whole = lineEnd + 1 < end && b[lineEnd] == '\n' && b[lineEnd + 1] == '\n';
        if (!whole) {
            return false;
        }
        attempts++;
        matches = 0;
        json.reset();
        int opens = json.feedToOutput(b, p + START.length - 1, lineEnd);
        if (!json.inOutputText() || json.sawToken()) {
            return false; // a role, finish or usage chunk, or [DONE]: comes once
        }
        int itsKind = json.outputKind();
        int closes = closingQuote(b, opens, lineEnd);
        // As if the text were empty: then a token would have to come from the bytes behind it.
        json.feed(b, closes, lineEnd);
        if (closes == lineEnd
                || !json.isComplete()
                || json.sawToken()
                || json.sawError()
                || json.sawFinish()
                || json.sawUsage()) {
            return false;
        }
        bytes = Arrays.copyOfRange(b, p, lineEnd + 2);
        gap = opens - p;
        tail = closes - p;
        kind = itsKind;
        return true;
    }

    private static boolean startsAt(byte[] b, int p, int end) {
        return end - p > START.length
                && Arrays.equals(b, p, p + START.length, START, 0, START.length);
    }

    private static int closingQuote(byte[] b, int p, int end) {
        while (p < end && b[p] != '"') {
            p += b[p] == '\\' ? 2 : 1;
        }
        return Math.min(p, end);
    }
}
