package io.warmpath.gateway.agent;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.InferenceRequest;
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
    private final TurnParts parts;
    private final InferenceRequest request;
    private final SessionKey key;
    private final boolean last;
    private final boolean closes;
    private volatile List<Candidate> offered = List.of();
    private volatile boolean narrowed;
    private @Nullable Candidate sentTo;
    private @Nullable Turn turn;

    /**
     * @param last no more turns will come
     * @param closes a session that is not open here, which other gateways learn of
     */
    AffinityTurn(
            TurnParts parts,
            InferenceRequest request,
            SessionKey key,
            boolean last,
            boolean closes) {
        this.parts = parts;
        this.request = request;
        this.key = key;
        this.last = last;
        this.closes = closes;
    }

    @Override
    public List<Candidate> narrow(List<Candidate> all) {
        List<Candidate> eligible = parts.planner().eligible(request, all);
        List<Candidate> left =
                parts.affinity()
                        .narrow(
                                key,
                                eligible,
                                c ->
                                        !parts.admission()
                                                .free(request.model(), List.of(c))
                                                .isEmpty());
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
        Turn now = parts.affinity().sent(key, to, offered);
        turn = turn == null || now != Turn.KEPT ? now : turn;
    }

    @Override
    public String word() {
        return (turn == null ? Turn.UNBOUND : turn).name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void ended() {
        parts.affinity().ended(key, last);
        if (closes) {
            parts.sessions().shared.closeElsewhere(key);
        }
    }
}
