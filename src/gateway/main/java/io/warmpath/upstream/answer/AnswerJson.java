package io.warmpath.upstream.answer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Finds the few members that matter in an OpenAI answer or chunk, fed in pieces cut anywhere.
 *
 * <p>Follows only the containers that can hold them ({@code choices}, their {@code delta} or {@code
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

    /** What a value means at its place. */
    private enum Role {
        NONE,
        ROOT,
        CHOICES,
        CHOICE,
        DELTA,
        /** Output when it is a non-empty string, list or object. */
        OUTPUT,
        FINISH,
        ERROR,
        USAGE,
        DETAILS,
        PROMPT_TOKENS,
        COMPLETION_TOKENS,
        CACHED_TOKENS
    }

    /** Kinds of output: what a client shows as the answer. */
    static final int TEXT_OUTPUT = 1;

    static final int REASONING_OUTPUT = 2;
    static final int IDS_OUTPUT = 4;

    /** Tool calls, function calls, refusals. */
    static final int OTHER_OUTPUT = 8;

    private static final int MAX_DEPTH = 5;
    private static final byte[] CHOICES = key("choices");
    private static final byte[] USAGE = key("usage");
    private static final byte[] ERROR = key("error");
    private static final byte[] TEXT = key("text");
    private static final byte[] OUTPUT_IDS = key("output_ids");
    private static final byte[] DELTA = key("delta");
    private static final byte[] MESSAGE = key("message");
    private static final byte[] FINISH_REASON = key("finish_reason");
    private static final byte[] TOKEN_IDS = key("token_ids");
    private static final byte[] CONTENT = key("content");
    private static final byte[] REASONING = key("reasoning");
    private static final byte[] REASONING_CONTENT = key("reasoning_content");
    private static final byte[] TOOL_CALLS = key("tool_calls");
    private static final byte[] FUNCTION_CALL = key("function_call");
    private static final byte[] REFUSAL = key("refusal");
    private static final byte[] PROMPT_TOKENS = key("prompt_tokens");
    private static final byte[] COMPLETION_TOKENS = key("completion_tokens");
    private static final byte[] PROMPT_TOKENS_DETAILS = key("prompt_tokens_details");
    private static final byte[] CACHED_TOKENS = key("cached_tokens");

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH = 0x8080808080808080L;

    private final Role[] stack = new Role[MAX_DEPTH];
    private int depth;
    private State state = State.VALUE;
    private Role role = Role.ROOT; // of the value that comes next or is being read
    private boolean escaped;
    private boolean emptySoFar; // string or skipped container being read
    private int skipDepth;
    private final byte[] key = new byte[PROMPT_TOKENS_DETAILS.length];
    private int keyLength;
    private boolean nullScalar;
    private long number; // -1 when the scalar is not a plain non-negative integer

    private int kind; // of the output that is being read
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
        role = Role.ROOT;
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
        return state == State.STRING && role == Role.OUTPUT;
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
                boolean array = stack[depth - 1] == Role.CHOICES;
                if (c == ',') {
                    if (array) {
                        role = Role.CHOICE;
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
        if (role == Role.ROOT && c != '{') {
            state = State.BAD;
            return;
        }
        noChoices &= role != Role.CHOICE || c == ']';
        switch (c) {
            case '"' -> {
                emptySoFar = true;
                state = State.STRING;
            }
            case '{' -> {
                switch (role) {
                    case ROOT, CHOICE, DELTA, USAGE, DETAILS -> {
                        if (role == Role.USAGE) {
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
                if (role == Role.CHOICES) {
                    noChoices = true;
                    push(State.VALUE);
                    role = Role.CHOICE;
                } else {
                    startSkip();
                }
            }
            case ']' -> {
                if (depth > 0 && stack[depth - 1] == Role.CHOICES) {
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
        if (role == Role.ERROR) {
            error = true;
        } else if (role == Role.FINISH) {
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
                    if (role == Role.OUTPUT) {
                        outputs |= kind;
                    }
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
            if (role == Role.OUTPUT && !emptySoFar) {
                outputs |= kind;
            }
            finish |= role == Role.FINISH;
            error |= role == Role.ERROR;
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
                role = child(stack[depth - 1]);
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
                role = child(stack[depth - 1]);
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

    private Role child(Role parent) {
        return switch (parent) {
            case ROOT ->
                    is(CHOICES)
                            ? Role.CHOICES
                            : is(USAGE)
                                    ? Role.USAGE
                                    : is(ERROR)
                                            ? Role.ERROR
                                            : is(TEXT)
                                                    ? output(TEXT_OUTPUT)
                                                    : is(OUTPUT_IDS) || is(TOKEN_IDS)
                                                            ? output(IDS_OUTPUT)
                                                            : Role.NONE;
            case CHOICE ->
                    is(DELTA) || is(MESSAGE)
                            ? Role.DELTA
                            : is(TEXT)
                                    ? output(TEXT_OUTPUT)
                                    : is(TOKEN_IDS)
                                            ? output(IDS_OUTPUT)
                                            : is(FINISH_REASON) ? Role.FINISH : Role.NONE;
            case DELTA -> inDelta();
            case USAGE ->
                    is(PROMPT_TOKENS)
                            ? Role.PROMPT_TOKENS
                            : is(COMPLETION_TOKENS)
                                    ? Role.COMPLETION_TOKENS
                                    : is(PROMPT_TOKENS_DETAILS) ? Role.DETAILS : Role.NONE;
            case DETAILS -> is(CACHED_TOKENS) ? Role.CACHED_TOKENS : Role.NONE;
            default -> Role.NONE;
        };
    }

    private Role inDelta() {
        if (is(CONTENT)) {
            return output(TEXT_OUTPUT);
        } else if (is(REASONING) || is(REASONING_CONTENT)) {
            return output(REASONING_OUTPUT);
        } else if (is(TOKEN_IDS)) {
            return output(IDS_OUTPUT);
        }
        return is(TOOL_CALLS) || is(FUNCTION_CALL) || is(REFUSAL)
                ? output(OTHER_OUTPUT)
                : Role.NONE;
    }

    private Role output(int itsKind) {
        kind = itsKind;
        return Role.OUTPUT;
    }

    private boolean is(byte[] name) {
        if (keyLength != name.length) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (key[i] != name[i]) {
                return false;
            }
        }
        return true;
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

    /** Of the output that {@link #feedToOutput} has come to. */
    int outputKind() {
        return kind;
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

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
