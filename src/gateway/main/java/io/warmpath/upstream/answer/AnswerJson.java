package io.warmpath.upstream.answer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Finds the few members that matter in an OpenAI answer or chunk, fed in pieces cut anywhere.
 * Follows only the containers that can hold them ({@code choices}, their {@code delta} or {@code
 * message}, {@code usage} and its details) and skips all others by counting brackets. Not a
 * validator: it tells whole objects from cut ones, no more. No allocation while feeding. One
 * thread.
 */
final class AnswerJson {
    private enum State {
        VALUE,
        STRING,
        SCALAR,
        KEY_OR_END,
        KEY,
        COLON,
        AFTER_VALUE,
        SKIP,
        SKIP_STRING,
        END,
        BAD
    }

    private static final int MAX_DEPTH = 5;
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH = 0x8080808080808080L;

    private final AnswerMember[] stack = new AnswerMember[MAX_DEPTH];
    private int depth;
    private State state = State.VALUE;
    private AnswerMember role = AnswerMember.ROOT; // of the value that comes next or is being read
    private boolean escaped;
    private boolean emptySoFar; // string or skipped container being read
    private int skipDepth;
    private final byte[] key = new byte[AnswerMember.LONGEST_NAME];
    private int keyLength;
    private boolean nullScalar;
    private long number; // -1 when the scalar is not a plain non-negative integer

    private int outputs; // kinds of those that were not empty
    private boolean finish;
    private boolean error;
    private boolean usage;
    private boolean noChoices;
    private long promptTokens;
    private long completionTokens;
    private long cachedTokens;

    /** Before the first byte of a document. */
    void reset() {
        depth = 0;
        state = State.VALUE;
        role = AnswerMember.ROOT;
        escaped = false;
        outputs = 0;
        finish = false;
        error = false;
        usage = false;
        noChoices = false;
        promptTokens = -1;
        completionTokens = -1;
        cachedTokens = -1;
    }

    void feed(byte[] b, int p, int end) {
        while (p < end && state != State.BAD) {
            p = step(b, p, end);
        }
    }

    /**
     * Feeds until a string opens whose being empty or not decides whether there is a token.
     *
     * @return just behind its opening quote, or {@code end}
     */
    int feedToOutput(byte[] b, int p, int end) {
        while (p < end && state != State.BAD && !inOutputText()) {
            p = step(b, p, end);
        }
        return p;
    }

    boolean inOutputText() {
        return state == State.STRING && role.output() != 0;
    }

    /** Consumes at least one byte, but for a scalar's end. */
    private int step(byte[] b, int p, int end) {
        switch (state) {
            case STRING, SKIP_STRING -> {
                return string(b, p, end);
            }
            case SKIP -> {
                return skip(b, p, end);
            }
            case KEY -> {
                return key(b, p, end);
            }
            case SCALAR -> {
                return scalar(b, p, end);
            }
            default -> {
                byte c = b[p];
                if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
                    between(c);
                    if (state == State.SCALAR) {
                        return p; // its first byte belongs to it
                    }
                }
                return p + 1;
            }
        }
    }

    /** One byte outside strings, scalars and skipped containers. */
    private void between(byte c) {
        switch (state) {
            case VALUE -> startValue(c);
            case KEY_OR_END -> {
                if (c == '"') {
                    keyLength = 0;
                    state = State.KEY;
                } else if (c == '}') {
                    pop();
                } else {
                    state = State.BAD;
                }
            }
            case COLON -> state = c == ':' ? State.VALUE : State.BAD;
            case AFTER_VALUE -> {
                boolean array = stack[depth - 1] == AnswerMember.CHOICES;
                if (c == ',') {
                    if (array) {
                        role = AnswerMember.CHOICE;
                        state = State.VALUE;
                    } else {
                        state = State.KEY_OR_END;
                    }
                } else if (c == (array ? ']' : '}')) {
                    pop();
                } else {
                    state = State.BAD;
                }
            }
            default -> state = State.BAD; // END: bytes behind the document
        }
    }

    private void startValue(byte c) {
        if (role == AnswerMember.ROOT && c != '{') {
            state = State.BAD;
            return;
        }
        noChoices &= role != AnswerMember.CHOICE || c == ']';
        switch (c) {
            case '"' -> {
                emptySoFar = true;
                state = State.STRING;
            }
            case '{' -> {
                switch (role) {
                    case ROOT, CHOICE, DELTA, USAGE, DETAILS -> {
                        if (role == AnswerMember.USAGE) {
                            usage = true;
                            promptTokens = -1;
                            completionTokens = -1;
                            cachedTokens = -1;
                        }
                        push(State.KEY_OR_END);
                    }
                    default -> startSkip();
                }
            }
            case '[' -> {
                if (role == AnswerMember.CHOICES) {
                    noChoices = true;
                    push(State.VALUE);
                    role = AnswerMember.CHOICE;
                } else {
                    startSkip();
                }
            }
            case ']' -> {
                if (depth > 0 && stack[depth - 1] == AnswerMember.CHOICES) {
                    pop(); // no choices
                } else {
                    state = State.BAD;
                }
            }
            case '}', ',', ':' -> state = State.BAD;
            default -> {
                nullScalar = c == 'n';
                number = 0;
                state = State.SCALAR;
            }
        }
    }

    private void push(State next) {
        stack[depth++] = role;
        state = next;
    }

    private void pop() {
        depth--;
        state = depth == 0 ? State.END : State.AFTER_VALUE;
    }

    private void startSkip() {
        if (role == AnswerMember.ERROR) {
            error = true;
        } else if (role == AnswerMember.FINISH) {
            finish = true;
        }
        emptySoFar = true;
        skipDepth = 1;
        state = State.SKIP;
    }

    private int skip(byte[] b, int p, int end) {
        while (p < end) {
            byte c = b[p++];
            if (c == '}' || c == ']') {
                if (--skipDepth == 0) {
                    state = State.AFTER_VALUE;
                    return p;
                }
            } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
                if (emptySoFar) {
                    emptySoFar = false;
                    outputs |= role.output();
                }
                if (c == '{' || c == '[') {
                    skipDepth++;
                } else if (c == '"') {
                    state = State.SKIP_STRING;
                    return p;
                }
            }
        }
        return p;
    }

    private int string(byte[] b, int p, int end) {
        if (escaped) {
            escaped = false;
            return p + 1;
        }
        int begin = p;
        p = text(b, p, end);
        if (p > begin || (p < end && b[p] == '\\')) {
            emptySoFar = false;
        }
        if (p == end) {
            return end;
        }
        if (b[p] == '\\') {
            escaped = true;
        } else if (state == State.SKIP_STRING) {
            state = State.SKIP;
        } else {
            if (!emptySoFar) {
                outputs |= role.output();
            }
            finish |= role == AnswerMember.FINISH;
            error |= role == AnswerMember.ERROR;
            state = State.AFTER_VALUE;
        }
        return p + 1;
    }

    /** The next quote or backslash, or {@code end}; eight bytes at a time. */
    private static int text(byte[] b, int p, int end) {
        for (; p + Long.BYTES <= end; p += Long.BYTES) {
            long w = (long) LONGS.get(b, p);
            long quote = w ^ (ONES * '"');
            long slash = w ^ (ONES * '\\');
            // Borrows make false marks above a true one only: the lowest is true.
            long marks = (((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) & HIGH;
            if (marks != 0) {
                return p + (Long.numberOfTrailingZeros(marks) >>> 3);
            }
        }
        while (p < end && b[p] != '"' && b[p] != '\\') {
            p++;
        }
        return p;
    }

    private int key(byte[] b, int p, int end) {
        if (keyLength == 0 && !escaped) {
            int close = text(b, p, end);
            if (close < end && b[close] == '"') { // all of it is here, and without escapes
                keyLength = Math.min(close - p, key.length + 1);
                System.arraycopy(b, p, key, 0, Math.min(keyLength, key.length));
                role = stack[depth - 1].member(key, keyLength);
                state = State.COLON;
                return close + 1;
            }
        }
        while (p < end) {
            byte c = b[p++];
            if (escaped) {
                escaped = false;
                keyLength = key.length + 1; // no key of ours is written with escapes
            } else if (c == '\\') {
                escaped = true;
            } else if (c == '"') {
                role = stack[depth - 1].member(key, keyLength);
                state = State.COLON;
                return p;
            } else {
                if (keyLength < key.length) {
                    key[keyLength] = c;
                }
                if (keyLength <= key.length) {
                    keyLength++;
                }
            }
        }
        return p;
    }

    private int scalar(byte[] b, int p, int end) {
        while (p < end) {
            byte c = b[p];
            if (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r'
                    || c == '\t') {
                endScalar();
                state = State.AFTER_VALUE;
                return p;
            }
            if (c < '0' || c > '9' || number < 0 || number > Long.MAX_VALUE / 10 - 10) {
                number = -1;
            } else {
                number = number * 10 + (c - '0');
            }
            p++;
        }
        return p;
    }

    private void endScalar() {
        switch (role) {
            case PROMPT_TOKENS -> promptTokens = number;
            case COMPLETION_TOKENS -> completionTokens = number;
            case CACHED_TOKENS -> cachedTokens = number;
            case ERROR -> error |= !nullScalar;
            case FINISH -> finish |= !nullScalar;
            default -> {}
        }
    }

    /** A whole object has been fed and nothing behind it. */
    boolean isComplete() {
        return state == State.END;
    }

    /** A usage report and nothing else: its list of choices is empty. */
    boolean isUsageOnly() {
        return usage && noChoices;
    }

    boolean sawToken() {
        return outputs != 0;
    }

    /** {@link AnswerMember#output} of the output that {@link #feedToOutput} has come to. */
    int outputKind() {
        return role.output();
    }

    /** Kinds of all outputs that were not empty. */
    int outputs() {
        return outputs;
    }

    boolean sawFinish() {
        return finish;
    }

    boolean sawError() {
        return error;
    }

    boolean sawUsage() {
        return usage;
    }

    long promptTokens() {
        return promptTokens;
    }

    long completionTokens() {
        return completionTokens;
    }

    long cachedTokens() {
        return cachedTokens;
    }
}
