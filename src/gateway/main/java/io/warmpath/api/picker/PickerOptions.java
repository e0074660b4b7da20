package io.warmpath.api.picker;

import java.time.Duration;

/**
 * @param pieceBytes largest piece of a body that goes back to the proxy, from 1
 * @param messageBytes largest message that is taken
 * @param bodyBytes largest body of a client's request; a larger one is answered with 413
 * @param fallbacks endpoints that are named beside the chosen one, at most
 * @param testHeaders whether {@code test-epp-endpoint-selection} of a request names its endpoints,
 *     and answers tell who the proxy says has served them, as conformance tests want it
 * @param streams that all proxies may have open together, from 1
 * @param span in which a proxy has to bring as much of a request as a client itself would have to,
 *     while it is its turn; above zero
 * @param retryAfter what clients are told to wait when no worker is there
 */
public record PickerOptions(
        int pieceBytes,
        int messageBytes,
        long bodyBytes,
        int fallbacks,
        boolean testHeaders,
        int streams,
        Duration span,
        Duration retryAfter) {
    public PickerOptions {
        if (pieceBytes < 1
                || messageBytes < 1
                || bodyBytes < 1
                || fallbacks < 0
                || streams < 1
                || !span.isPositive()) {
            throw new IllegalArgumentException(
                    "%s, %s, %s bytes, %s fallbacks, %s streams, %s"
                            .formatted(
                                    pieceBytes, messageBytes, bodyBytes, fallbacks, streams, span));
        }
    }
}
