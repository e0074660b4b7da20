package io.warmpath.net.server;

/**
 * Knows of one client connection whether all that its codec has read is answered. Its event loop
 * only.
 */
final class CodecState extends CodecMessages {
    private int unanswered;
    private boolean body;
    private boolean spoiled;

    /**
     * @param begun the head of a request has gone by, its body has not
     */
    CodecState(boolean begun) {
        if (begun) {
            requestBegan();
        }
    }

    /** Every request that has begun is over, and everything so far was HTTP. */
    boolean isQuiet() {
        return unanswered == 0 && !body && !spoiled;
    }

    @Override
    void requestBegan() {
        unanswered++;
        body = true;
    }

    @Override
    void requestEnded() {
        body = false;
    }

    @Override
    void spoiled() {
        spoiled = true;
    }

    @Override
    void answered() {
        if (unanswered > 0) {
            unanswered--;
        }
    }
}
