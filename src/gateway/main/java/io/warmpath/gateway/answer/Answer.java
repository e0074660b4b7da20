package io.warmpath.gateway.answer;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.routing.RoutingDecision;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of one request. All methods on the request's event loop. After the client has
 * gone all of them are harmless.
 */
public interface Answer {
    /**
     * Status and headers, not yet written: they go out with the first bytes.
     *
     * @param engine the engine's headers, unfiltered
     * @param own headers of the gateway beside the request id, replacing the engine's
     * @param keepLength pass on {@code Content-Length}
     */
    void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength);

    /**
     * Why this worker, for a client that has asked: before {@link #head} of a stream of events,
     * which can carry it at its end.
     */
    default void explain(RoutingDecision decision) {}

    /** It goes on elsewhere; after {@link #head}, maybe several times. */
    default void moved(StreamMove move) {}

    /**
     * For a client that has asked for {@link NvextField}s: before {@link #head} of an answer that
     * is read along with, and again when it goes on elsewhere.
     *
     * @param now what is known at the moment of asking; until the end of the answer
     */
    default void facts(Supplier<AnswerFacts> now) {}

    /**
     * Tells the client of a stream, between two of its events, that it is alive; after {@link
     * #head} only.
     */
    void keepAlive();

    /** The bytes are copied or written before this returns. */
    void write(byte[] b, int from, int length);

    /** Last bytes, maybe none, and the end of the answer. */
    void end(byte[] b, int from, int length);

    /** An error answer; only before {@link #head}. */
    void fail(GatewayError error);

    /** Writes the error as the stream's last event, without {@code [DONE]}, and ends the answer. */
    void endWithErrorEvent(GatewayError error);

    /** Breaks the connection, so that the client cannot take a part for the whole. */
    void reset();

    /** More has been written than the client has taken; wait for {@link #onDrain}. */
    boolean isFull();

    /** Called once, when there is room again. */
    void onDrain(Runnable action);

    /**
     * What to do when the client, to whom the answer has begun, sends nothing more: it may have
     * left, which shows when something is written. Where that cannot be told from leaving, and
     * before the answer has begun, never.
     */
    default void onInputEnd(Runnable action) {}
}
