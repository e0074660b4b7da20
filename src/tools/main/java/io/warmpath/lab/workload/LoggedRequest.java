package io.warmpath.lab.workload;

import java.util.Arrays;

/** One request of a gateway's log, and what became of it when that is known. */
final class LoggedRequest {
    private static final int DIGITS = 8;

    /** When it came to the gateway. */
    final double millis;

    final String session;
    final int blockTokens;

    /** Tokens; 0: not known. */
    int prompt;

    /** Tokens; negative: not known. */
    int output = -1;

    /** Tokens as the engine reported; negative: it did not. */
    int cached = -1;

    /** When its answer had ended; NaN: not known. */
    double endMillis = Double.NaN;

    private final int[] blocks;
    private int status = 200;

    LoggedRequest(LogLine line, BlockIds ids) {
        millis = line.millis - line.queuedMillis;
        session = line.session;
        blockTokens = line.blockTokens;
        prompt = line.promptTokens;
        String names = line.blocks;
        if (names.length() % DIGITS != 0 || (!names.isEmpty() && blockTokens < 1)) {
            throw new IllegalArgumentException(
                    "`prompt_blocks` are not " + DIGITS + " digits each");
        }
        blocks = new int[names.length() / DIGITS];
        int parent = -1;
        for (int i = 0; i < blocks.length; i++) {
            int name = Integer.parseUnsignedInt(names, i * DIGITS, (i + 1) * DIGITS, 16);
            parent = ids.of(parent, name);
            blocks[i] = parent;
        }
    }

    void ended(LogLine line) {
        status = line.status;
        endMillis = line.millis;
        output = line.outputTokens;
        cached = line.cachedTokens;
        prompt = prompt > 0 ? prompt : line.promptTokens;
    }

    /** It has cost its engine nothing, or went on elsewhere. */
    boolean failed() {
        return status < 200 || status > 299;
    }

    boolean hasNames() {
        return blocks.length > 0;
    }

    /** Its complete blocks: equal numbers are equal blocks behind equal ones. Not a copy. */
    int[] blocks() {
        int complete = hasNames() ? prompt / blockTokens : 0;
        return blocks.length <= complete ? blocks : Arrays.copyOf(blocks, complete);
    }
}
