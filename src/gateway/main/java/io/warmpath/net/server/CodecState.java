package io.warmpath.net.server;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;

/**
 * Knows of one client connection whether all that its codec has read is answered. Its event loop
 * only.
 */
final class CodecState extends CodecMessages {
    private int unanswered;
    private boolean body;
    private boolean spoiled;
    private boolean answerBegun; // the head of an answer is out, its end is not
    private boolean old; // something other than HTTP/1.1 was asked for

    /** {@code begun}: the head of a request has gone by, its body has not. */
    CodecState(boolean begun) {
        if (begun) {
            requestBegan();
        }
    }

    /** Every request that has begun is over, and everything so far was HTTP. */
    boolean isQuiet() {
        return unanswered == 0 && !body && !spoiled;
    }

    /** Requests of HTTP/1.1 that are there as a whole wait for their answers, and no other. */
    boolean isAnswering() {
        return unanswered > 0 && !body && !spoiled && !old;
    }

    @Override
    void head(HttpRequest request) {
        old |= !request.protocolVersion().equals(HttpVersion.HTTP_1_1);
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

    /** The head of an answer is out, and its end is not. */
    boolean hasBegunAnswer() {
        return answerBegun;
    }

    @Override
    void answerBegan() {
        answerBegun = true;
    }

    @Override
    void answered() {
        answerBegun = false;
        if (unanswered > 0) {
            unanswered--;
        }
    }
}
