package io.warmpath.api.connection;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A client's request whose head is there, and the ways to answer it. On the request's event loop.
 */
public interface ClientRequest {
    /** Its path, without the query. */
    String target();

    /** As the client sent it, without its question mark; null: none. */
    @Nullable String query();

    /** May be taken from and added to, before anybody else looks at them. */
    MultiMap headers();

    /** For whatever answer it gets; before that. */
    void putHeader(String name, String value);

    /**
     * At the end of the answer or of the connection; once a request.
     *
     * @param action gets the answer's status; 200 when there was none
     */
    void onEnd(IntConsumer action);

    /** There is nobody to be answered any more. */
    boolean isGone();

    /**
     * @param raw false: everything through the server's encoder
     * @param gone what to do when the client's connection ends, maybe more than once
     */
    Answer answer(String requestId, boolean raw, Runnable gone);

    /** Answers with the error, unless the answer has begun or the client has gone. */
    void refuse(GatewayError error, String requestId);

    /** What is left of its body is read and dropped, for so long at most: it has been answered. */
    void discard(long lingerMillis);
}
