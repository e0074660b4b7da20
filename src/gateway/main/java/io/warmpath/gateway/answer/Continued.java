package io.warmpath.gateway.answer;

import io.vertx.core.buffer.Buffer;
import io.warmpath.gateway.migration.ContinuedBody;
import io.warmpath.gateway.migration.JoinedStream;
import io.warmpath.gateway.migration.JoinedUsage;
import io.warmpath.gateway.migration.NotContinuedException;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.answer.StreamText;

/**
 * What an attempt needs to know to go on with a stream that another worker has begun.
 *
 * @param said what the client has; goes on growing
 * @param made its length in tokens
 * @param promptTokens the prompt's length; 0 when it is not known
 * @param cachedTokens of the prompt, as the worker that began has reported; -1: it has not
 * @param chat the client reads a chat, not a completion
 * @param anew nothing had been said: the request is asked as it was
 * @param before what was known when the other worker failed it
 */
public record Continued(
        StreamText said,
        int made,
        int promptTokens,
        long cachedTokens,
        boolean chat,
        boolean anew,
        AnswerFacts before) {
    /** {@code asked}: the request as this worker would be asked anew. */
    public Buffer body(Buffer asked) {
        byte[] text = said.escaped();
        if (text.length == 0) {
            return asked;
        }
        try {
            return ContinuedBody.of(asked.getBytes(), chat).write(text, made);
        } catch (NotContinuedException e) {
            throw new IllegalStateException("a body that was read cannot be read again", e);
        }
    }

    /** Makes the worker's answer a part of the stream that the client reads. */
    public UpstreamListener joining(UpstreamListener client) {
        byte[] first = said.firstEvent();
        if (first.length == 0) {
            return client;
        }
        return new JoinedStream(
                first, anew ? null : new JoinedUsage(made, promptTokens, cachedTokens), client);
    }
}
