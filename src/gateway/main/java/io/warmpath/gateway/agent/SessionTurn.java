package io.warmpath.gateway.agent;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.upstream.UpstreamListener;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * One request as a turn of its session. On the request's event loop; {@link #narrow} also by the
 * queue, on any thread.
 */
public interface SessionTurn {
    /** What follows when the engine may be asked. */
    public interface Ready {
        void go();

        /** It is not asked. */
        void refused(GatewayError error);
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

    /** Adds the session to what the engine gets. */
    default BodyChanges changes(BodyChanges so) {
        return so;
    }

    /** The engine gets only what is new; its session holds the rest. */
    default boolean appends() {
        return false;
    }

    /** What listens to the answer, and hands all of it on. */
    default UpstreamListener listener(UpstreamListener client) {
        return client;
    }

    /** The engine has refused the session: it is to be asked again, with the whole prompt. */
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
