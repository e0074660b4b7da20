package io.warmpath.gateway.flow;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionTable.Turn;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One request as a turn of a session that a header names: it goes where the session is bound to.
 * Written on the request's event loop; {@link #narrow} also by the queue, on any thread.
 */
final class AffinityTurn implements SessionTurn {
    private final RequestFlow flow;
    private final InferenceRequest request;
    private final SessionKey key;
    private final boolean last;
    private final boolean closes;
    private volatile List<Candidate> offered = List.of();
    private volatile boolean narrowed;
    private @Nullable Candidate sentTo;
    private @Nullable Turn turn;

    private AffinityTurn(
            RequestFlow flow,
            InferenceRequest request,
            SessionKey key,
            boolean last,
            boolean closes) {
        this.flow = flow;
        this.request = request;
        this.key = key;
        this.last = last;
        this.closes = closes;
    }

    /**
     * Null when it is no session's, or sessions are not bound here.
     *
     * @throws io.warmpath.fault.GatewayException BadRequest when a header is wrong
     */
    static @Nullable AffinityTurn of(RequestFlow flow, InferenceRequest request) {
        if (!flow.affinity.on()) {
            return null;
        }
        String id = SessionHeaders.checked(request);
        boolean last = SessionHeaders.last(request);
        return id.isEmpty()
                ? null
                : new AffinityTurn(
                        flow,
                        request,
                        new SessionKey(
                                new SessionKey.Scope(request.model(), request.cacheSalt()), id),
                        last,
                        false);
    }

    /** A turn of a session that is not open here: it may have been bound at another gateway. */
    static @Nullable AffinityTurn of(
            RequestFlow flow, InferenceRequest request, SessionControl control) {
        boolean closes = control.action() == SessionControl.Action.CLOSE;
        return flow.affinity.on()
                ? new AffinityTurn(
                        flow, request, ControlledTurn.key(request, control), closes, closes)
                : null;
    }

    @Override
    public List<Candidate> narrow(List<Candidate> all) {
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

    @Override
    public void narrowed(List<Candidate> others) {
        offered = others;
        narrowed = false;
    }

    @Override
    public String whyNot(Worker other) {
        return narrowed ? "the session goes elsewhere" : "busy";
    }

    @Override
    public void sent(Candidate to) {
        if (to.equals(sentTo)) {
            return; // the same turn over another connection
        }
        sentTo = to;
        Turn now = flow.affinity.sent(key, to, offered);
        turn = turn == null || now != Turn.KEPT ? now : turn;
    }

    @Override
    public String word() {
        return (turn == null ? Turn.UNBOUND : turn).name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void ended() {
        flow.affinity.ended(key, last);
        if (closes) {
            flow.sessions.shared.closeElsewhere(key);
        }
    }
}
