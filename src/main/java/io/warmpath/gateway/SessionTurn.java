package io.warmpath.gateway;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionTable.Turn;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One request as a turn of its session. Written on the request's event loop; {@link #narrow} also
 * by the queue, on any thread.
 */
final class SessionTurn {
    private final RequestFlow flow;
    private final InferenceRequest request;
    private final SessionKey key;
    private final boolean last;
    private volatile List<Candidate> offered = List.of();
    private volatile boolean narrowed;
    private @Nullable Candidate sentTo;
    private @Nullable Turn turn;

    private SessionTurn(RequestFlow flow, InferenceRequest request, SessionKey key, boolean last) {
        this.flow = flow;
        this.request = request;
        this.key = key;
        this.last = last;
    }

    /**
     * Null when it is no session's, or sessions are not bound here.
     *
     * @throws io.warmpath.fault.GatewayException BadRequest when a header is wrong
     */
    static @Nullable SessionTurn of(RequestFlow flow, InferenceRequest request) {
        if (!flow.affinity.on()) {
            return null;
        }
        String id = SessionHeaders.checked(request);
        boolean last = SessionHeaders.last(request);
        return id.isEmpty()
                ? null
                : new SessionTurn(
                        flow,
                        request,
                        new SessionKey(
                                new SessionKey.Scope(request.model(), request.cacheSalt()), id),
                        last);
    }

    /** Of those that serve the model the one that the session goes to, or all. */
    List<Candidate> narrow(List<Candidate> all) {
        List<Candidate> eligible = flow.planner.eligible(request, all);
        List<Candidate> left =
                flow.affinity.narrow(
                        key,
                        eligible,
                        c -> !flow.admission.free(request.model(), List.of(c)).isEmpty());
        offered = eligible;
        narrowed = left != eligible;
        return narrowed ? left : all;
    }

    /** The bound rank has failed; one of these gets the turn. */
    void narrowed(List<Candidate> others) {
        offered = others;
        narrowed = false;
    }

    /** Why a ready worker was not among those that could be chosen. */
    String whyNot(Worker other) {
        return narrowed ? "the session goes elsewhere" : "busy";
    }

    void sent(Candidate to) {
        if (to.equals(sentTo)) {
            return; // the same turn over another connection
        }
        sentTo = to;
        Turn now = flow.affinity.sent(key, to, offered);
        turn = turn == null || now != Turn.KEPT ? now : turn;
    }

    /** What the turn has done to its session, for an explanation. */
    String word() {
        return (turn == null ? Turn.UNBOUND : turn).name().toLowerCase(Locale.ROOT);
    }

    void ended() {
        flow.affinity.ended(key, last);
    }
}
