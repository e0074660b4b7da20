package io.warmpath.upstream.answer;

import java.nio.charset.StandardCharsets;

/**
 * What a value of an OpenAI answer or chunk means at its place: the members that {@link AnswerJson}
 * looks for, each by its name and by what it is a member of.
 */
enum AnswerMember {
    NONE,
    ROOT,
    CHOICES,
    CHOICE,
    /** The {@code delta} of a chunk's choice, or the {@code message} of a whole answer's. */
    DELTA,
    TEXT_OUTPUT(1),
    REASONING_OUTPUT(2),
    IDS_OUTPUT(4),
    /** Tool calls, function calls, refusals. */
    OTHER_OUTPUT(8),
    FINISH,
    ERROR,
    USAGE,
    DETAILS,
    PROMPT_TOKENS,
    COMPLETION_TOKENS,
    CACHED_TOKENS;

    private static final class Name {
        static final byte[] CHOICES = bytes("choices");
        static final byte[] USAGE = bytes("usage");
        static final byte[] ERROR = bytes("error");
        static final byte[] TEXT = bytes("text");
        static final byte[] OUTPUT_IDS = bytes("output_ids");
        static final byte[] DELTA = bytes("delta");
        static final byte[] MESSAGE = bytes("message");
        static final byte[] FINISH_REASON = bytes("finish_reason");
        static final byte[] TOKEN_IDS = bytes("token_ids");
        static final byte[] CONTENT = bytes("content");
        static final byte[] REASONING = bytes("reasoning");
        static final byte[] REASONING_CONTENT = bytes("reasoning_content");
        static final byte[] TOOL_CALLS = bytes("tool_calls");
        static final byte[] FUNCTION_CALL = bytes("function_call");
        static final byte[] REFUSAL = bytes("refusal");
        static final byte[] PROMPT_TOKENS = bytes("prompt_tokens");
        static final byte[] COMPLETION_TOKENS = bytes("completion_tokens");
        static final byte[] PROMPT_TOKENS_DETAILS = bytes("prompt_tokens_details");
        static final byte[] CACHED_TOKENS = bytes("cached_tokens");

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /** In bytes; a longer name is none of these. */
    static final int LONGEST_NAME = Name.PROMPT_TOKENS_DETAILS.length;

    private final int output;

    AnswerMember() {
        this(0);
    }

    AnswerMember(int output) {
        this.output = output;
    }

    /**
     * A bit for each kind of output, which is what a client shows as the answer, where the value is
     * a non-empty string, list or object; 0: no output.
     */
    int output() {
        return output;
    }

    /**
     * What this one's member of that name means.
     *
     * @param length of the name in {@code key}; longer ones than that are none of ours
     */
    AnswerMember member(byte[] key, int length) {
        return switch (this) {
            case ROOT -> ofRoot(key, length);
            case CHOICE -> ofChoice(key, length);
            case DELTA -> ofDelta(key, length);
            case USAGE -> ofUsage(key, length);
            case DETAILS -> is(Name.CACHED_TOKENS, key, length) ? CACHED_TOKENS : NONE;
            default -> NONE;
        };
    }

    private static AnswerMember ofRoot(byte[] key, int length) {
        if (is(Name.CHOICES, key, length)) {
            return CHOICES;
        } else if (is(Name.USAGE, key, length)) {
            return USAGE;
        } else if (is(Name.ERROR, key, length)) {
            return ERROR;
        } else if (is(Name.TEXT, key, length)) {
            return TEXT_OUTPUT;
        }
        return is(Name.OUTPUT_IDS, key, length) || is(Name.TOKEN_IDS, key, length)
                ? IDS_OUTPUT
                : NONE;
    }

    private static AnswerMember ofChoice(byte[] key, int length) {
        if (is(Name.DELTA, key, length) || is(Name.MESSAGE, key, length)) {
            return DELTA;
        } else if (is(Name.TEXT, key, length)) {
            return TEXT_OUTPUT;
        } else if (is(Name.TOKEN_IDS, key, length)) {
            return IDS_OUTPUT;
        }
        return is(Name.FINISH_REASON, key, length) ? FINISH : NONE;
    }

    private static AnswerMember ofDelta(byte[] key, int length) {
        if (is(Name.CONTENT, key, length)) {
            return TEXT_OUTPUT;
        } else if (is(Name.REASONING, key, length) || is(Name.REASONING_CONTENT, key, length)) {
            return REASONING_OUTPUT;
        } else if (is(Name.TOKEN_IDS, key, length)) {
            return IDS_OUTPUT;
        }
        return is(Name.TOOL_CALLS, key, length)
                        || is(Name.FUNCTION_CALL, key, length)
                        || is(Name.REFUSAL, key, length)
                ? OTHER_OUTPUT
                : NONE;
    }

    private static AnswerMember ofUsage(byte[] key, int length) {
        if (is(Name.PROMPT_TOKENS, key, length)) {
            return PROMPT_TOKENS;
        } else if (is(Name.COMPLETION_TOKENS, key, length)) {
            return COMPLETION_TOKENS;
        }
        return is(Name.PROMPT_TOKENS_DETAILS, key, length) ? DETAILS : NONE;
    }

    private static boolean is(byte[] name, byte[] key, int length) {
        if (length != name.length) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (key[i] != name[i]) {
                return false;
            }
        }
        return true;
    }
}
