package io.warmpath.lab.workload;

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

    private final String names;
    private int status = 200;

    LoggedRequest(LogLine line) {
        millis = line.millis - line.queuedMillis;
        session = line.session;
        blockTokens = line.blockTokens;
        prompt = line.promptTokens;
        names = line.blocks;
        if (names.length() % DIGITS != 0 || (!names.isEmpty() && blockTokens < 1)) {
            throw new IllegalArgumentException(
                    "`prompt_blocks` are not " + DIGITS + " digits each");
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
        return !names.isEmpty();
    }

    /** How many of its blocks are named. */
    int blocks() {
        return hasNames() ? Math.min(names.length() / DIGITS, prompt / blockTokens) : 0;
    }

    /** Half the name of a block; enough among those that follow the same block. */
    int name(int block) {
        return Integer.parseUnsignedInt(names, block * DIGITS, (block + 1) * DIGITS, 16);
    }
}
