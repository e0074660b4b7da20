package io.warmpath.upstream;

import java.time.Duration;

/**
 * How long an engine may be silent.
 *
 * @param firstByte from the request's last byte to the answer's head
 * @param idle between two reads of the answer, also while the client takes nothing
 */
public record AnswerTimeouts(Duration firstByte, Duration idle) {
    public AnswerTimeouts {
        UpstreamOptions.positive("firstByte", firstByte);
        UpstreamOptions.positive("idle", idle);
    }
}
