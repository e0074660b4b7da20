package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.session.SessionControl;
import io.warmpath.upstream.UpstreamListener;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request as a turn of its session. On the request's event loop; {@link #narrow} also by the
 * queue, on any thread.
 */
interface SessionTurn {
    /** What follows when the engine may be asked. */
    interface Ready {
        void go();

        /** It is not asked. */
        void refused(GatewayError error);
    }

    /**
     * Null when it is no session's, or sessions are not bound here.
     *
     * @throws GatewayException when what it says of its session is wrong, or not enough
     */
    static @Nullable SessionTurn of(
            RequestFlow flow, Context context, InferenceRequest request, EngineForm form) {
        SessionControl control = request.hints().session();
        if (control == null) {
            return AffinityTurn.of(flow, request);
        }
        SessionTurn turn = ControlledTurn.of(flow, context, request, form, control);
        return turn == null ? AffinityTurn.of(flow, request, control) : turn;
    }

    /** Of those that serve the model the one that the session goes to, or all. */
    List<Candidate> narrow(List<Candidate> all);

    /** The bound rank has failed; one of these gets the turn. */
    void narrowed(List<Candidate> others);

    /** Why a ready worker was not among those that could be chosen. */
    String whyNot(Worker other);

    /** The turn is sent there. */
    void sent(Candidate to);

    /**
     * Before the turn is sent there: the engine's side of the session.
     *
     * @param ids makes the prompt's ids there, which may block; none when they are not known
     */
    default void prepare(Candidate to, Supplier<int[]> ids, Ready ready) {
        ready.go();
    }

    /** What the engine is told of the session. */
    default BodyChanges changes(BodyChanges so) {
        return so;
    }

    /** What listens to the answer, and hands all of it on. */
    default UpstreamListener listener(UpstreamListener client) {
        return client;
    }

    /** The engine has refused what was told of the session: it is to be asked again, in full. */
    default boolean askAgain() {
        return false;
    }

    /** What the turn has done to its session, for an explanation. */
    String word();

    /** Idle time after which the session ends, where its client said one. */
    default OptionalInt timeoutSeconds() {
        return OptionalInt.empty();
    }

    /** The request is over. */
    void ended();
}
