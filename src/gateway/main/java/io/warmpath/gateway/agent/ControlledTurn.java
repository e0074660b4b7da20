package io.warmpath.gateway.agent;

import io.vertx.core.Context;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionAppend;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.ControlledSessions.Event;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionControl.Action;
import io.warmpath.session.SessionKey;
import io.warmpath.upstream.UpstreamListener;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One request as a turn of a session that its client opens and closes. Its prompt is always known
 * whole, so wherever the engine's session is lost, busy or does not fit, the turn is sent in full.
 * The client waits for the engine's session in one case only: where it has to be opened.
 */
final class ControlledTurn implements SessionTurn {
    private static final Logger LOG = Logger.getLogger(ControlledTurn.class);

    /** What the turn has done to its session. */
    private enum Word {
        UNBOUND,
        OPENED,
        KEPT,
        REOPENED,
        BESIDE,
        CAPPED,
        DIVERGED,
        GONE
    }

    private final TurnParts parts;
    private final EngineSessions engines;
    private final ControlledSessions table;
    private final Context context;
    private final InferenceRequest request;
    private final EngineForm form;
    private final SessionKey key;
    private final SessionControl control;
    private final ControlledSession session;
    private final byte @Nullable [] said;
    private final boolean adopted;
    private volatile boolean narrowed;
    private Word word = Word.UNBOUND;
    private SessionSupport support = SessionSupport.STICKY;
    private @Nullable Place place;
    private @Nullable SessionAppend append;
    private int reserved;
    private boolean settled = true;
    private boolean refused;
    private boolean askedAgain;
    private boolean over;

    private ControlledTurn(
            TurnParts parts,
            Context context,
            InferenceRequest request,
            EngineForm form,
            SessionControl control,
            TurnSession of) {
        this.parts = parts;
        this.engines = parts.sessions();
        this.table = parts.sessions().table;
        this.context = context;
        this.request = request;
        this.form = form;
        this.control = control;
        this.key = of.key();
        this.session = of.session();
        this.said = of.said();
        this.adopted = of.adopted();
    }

    /**
     * Null when there is no such session, and the request is as good without one.
     *
     * @throws GatewayException SessionConflict when it is not
     */
    static @Nullable ControlledTurn of(
            TurnParts parts,
            Context context,
            InferenceRequest request,
            EngineForm form,
            SessionControl control) {
        TurnSession session = TurnSession.of(parts.sessions(), request, form, control);
        return session == null
                ? null
                : new ControlledTurn(parts, context, request, form, control, session);
    }

    @Override
    public List<Candidate> narrow(List<Candidate> all) {
        List<Candidate> eligible = parts.planner().eligible(request, all);
        for (int i = 0; i < eligible.size(); i++) {
            if (session.isAt(eligible.get(i))) {
                narrowed = true;
                return List.of(eligible.get(i));
            }
        }
        if (adopted && !session.isSomewhere()) {
            List<Candidate> left =
                    parts.affinity()
                            .narrow(
                                    key,
                                    eligible,
                                    c ->
                                            !parts.admission()
                                                    .free(request.model(), List.of(c))
                                                    .isEmpty());
            narrowed = left != eligible;
            return narrowed ? left : all;
        }
        narrowed = false;
        return all;
    }

    @Override
    public void narrowed(List<Candidate> others) {
        narrowed = false;
    }

    @Override
    public String whyNot(Worker other) {
        return narrowed ? "the session is elsewhere" : "busy";
    }

    @Override
    public void sent(Candidate to) {
        if (parts.affinity().on()) {
            parts.affinity().sent(key, to, List.of(to)); // for other gateways, and after its end
        }
    }

    @Override
    public void prepare(Candidate to, Supplier<int[]> ids, Ready ready) {
        undo();
        support = SessionSupport.STICKY;
        if (!mayAppend(to)) {
            prepared(to, PromptContent.NO_IDS, ready);
            return;
        }
        try {
            parts.lanes().brief(() -> tokenise(to, ids, ready));
        } catch (RejectedExecutionException e) {
            prepared(to, PromptContent.NO_IDS, ready);
        }
    }

    /** Where it is, or would be, the engine holds tokens. */
    private boolean mayAppend(Candidate to) {
        Place at = session.isAt(to) ? session.place() : null;
        boolean holds =
                at == null
                        ? !session.staysOnly() && to.worker().sessions() == SessionSupport.STREAMING
                        : at.support() == SessionSupport.STREAMING;
        return holds && form.appends(request);
    }

    /** On a tokenising thread. */
    private void tokenise(Candidate to, Supplier<int[]> ids, Ready ready) {
        int[] made;
        try {
            made = ids.get();
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: its session is not used", request.requestId());
            made = PromptContent.NO_IDS;
        }
        int[] known = made;
        context.runOnContext(
                v -> {
                    if (!over) {
                        prepared(to, known, ready);
                    }
                });
    }

    private void prepared(Candidate to, int[] ids, Ready ready) {
        if (control.action() != Action.CLOSE && !table.isThere(key, session)) {
            word = Word.GONE; // closed or opened anew while this turn has waited
            ready.go();
        } else if (session.isAt(to)) {
            proceed(to, ids);
            ready.go();
        } else if (control.action() == Action.CLOSE) {
            word = Word.GONE; // nothing is opened to be closed at once
            ready.go();
        } else {
            begin(to, ids, ready);
        }
    }

    /** A turn where the session is. */
    private void proceed(Candidate to, int[] ids) {
        Place at = session.place();
        place = at;
        support = at == null ? SessionSupport.STICKY : at.support();
        word = word == Word.UNBOUND ? Word.KEPT : word;
        if (at != null && support == SessionSupport.STREAMING) {
            append(to, at, ids);
        }
    }

    private void append(Candidate to, Place at, int[] ids) {
        int held = appendable(ids) ? session.take(ids) : ControlledSession.BUSY;
        if (held == ControlledSession.BUSY) {
            support = SessionSupport.STICKY;
            word = Word.BESIDE;
            return;
        }
        int more = held < 0 ? 0 : ids.length - held + request.hints().expectedOutput();
        if (held == ControlledSession.DIVERGED || !table.pin(to, more)) {
            boolean full = held >= 0;
            table.count(full ? Event.CAPPED : Event.DIVERGED);
            word = full ? Word.CAPPED : Word.DIVERGED;
            support = SessionSupport.STICKY;
            place = table.bind(session, to, SessionSupport.STICKY);
            return;
        }
        settled = false;
        reserved = more;
        append =
                new SessionAppend(
                        engines.id(at),
                        Arrays.copyOfRange(ids, held, ids.length),
                        outcome(at, ids));
    }

    private boolean appendable(int[] ids) {
        return ids.length > 0 && form.appends(request);
    }

    /** A turn where the session is not yet. */
    private void begin(Candidate to, int[] ids, Ready ready) {
        boolean again = adopted || session.isSomewhere() || session.turns() > 1;
        if (again) {
            table.count(Event.REOPENED);
        }
        word = again ? Word.REOPENED : Word.OPENED;
        SessionSupport how = session.staysOnly() ? SessionSupport.STICKY : to.worker().sessions();
        if (how == SessionSupport.STREAMING) {
            if (!appendable(ids)) {
                how = SessionSupport.STICKY;
            } else if (!table.mayPin(to, ids.length + request.hints().expectedOutput())) {
                table.count(Event.CAPPED);
                word = Word.CAPPED;
                how = SessionSupport.STICKY;
            }
        }
        Place at = table.bind(session, to, how);
        place = at;
        support = how;
        if (how == SessionSupport.STREAMING) {
            engines.open(
                    context,
                    to.worker(),
                    at,
                    session.timeoutSeconds(),
                    request.headers().get("authorization"),
                    problem -> opened(to, at, ids, problem, ready));
        } else {
            ready.go();
        }
    }

    private void opened(Candidate to, Place at, int[] ids, @Nullable String problem, Ready ready) {
        if (over) {
            if (problem == null) {
                table.letGo(at); // the client has left; an earlier close may have come too early
            }
            return;
        }
        if (problem == null) {
            append(to, at, ids);
            ready.go();
            return;
        }
        table.count(Event.OPEN_FAILED);
        support = SessionSupport.STICKY;
        if (word == Word.OPENED) {
            if (table.take(key, session)) {
                table.release(session);
            }
            engines.shared.over(key, session);
            ready.refused(new GatewayError.SessionNotOpened(to.worker().name(), problem));
        } else {
            word = Word.UNBOUND;
            place = table.bind(session, to, SessionSupport.STICKY);
            ready.go();
        }
    }

    private SessionAppend.Outcome outcome(Place at, int[] ids) {
        return new SessionAppend.Outcome() {
            @Override
            public void answered(long promptTokens, int[] answer, long completionTokens) {
                if (!settled && promptTokens == ids.length && completionTokens == answer.length) {
                    settled = true;
                    table.appended(session, at, ids, answer);
                }
            }

            @Override
            public void refused() {
                refused = true;
            }
        };
    }

    /** What the engine holds is not known any more: the next turn opens the session again. */
    private void undo() {
        if (append != null && place != null) {
            table.unpin(place, reserved); // what is held now is counted by itself
        }
        append = null;
        if (!settled) {
            settled = true;
            table.leave(session);
        }
    }

    @Override
    public BodyChanges changes(BodyChanges so) {
        if (append != null) {
            return so.withAppend(append);
        }
        return support == SessionSupport.RADIX && place != null
                ? so.withSession(engines.id(place))
                : so;
    }

    @Override
    public UpstreamListener listener(UpstreamListener client) {
        return said == null
                ? client
                : new AnswerKeeper(parts.lanes(), table, session, said, client);
    }

    @Override
    public boolean askAgain() {
        if (!refused || askedAgain) {
            return false;
        }
        askedAgain = true;
        refused = false;
        undo();
        return true;
    }

    @Override
    public boolean appends() {
        return append != null;
    }

    @Override
    public String word() {
        String how = support.name().toLowerCase(Locale.ROOT);
        return word.name().toLowerCase(Locale.ROOT) + ";" + how;
    }

    @Override
    public OptionalInt timeoutSeconds() {
        return OptionalInt.of(session.timeoutSeconds());
    }

    @Override
    public void ended() {
        if (over) {
            return;
        }
        boolean opening = place != null && append == null && support == SessionSupport.STREAMING;
        over = true;
        undo();
        table.ended(session);
        if (parts.affinity().on()) {
            parts.affinity().ended(key, control.action() == Action.CLOSE);
        }
        if (opening && word == Word.OPENED) {
            table.take(key, session); // no engine or client knows yet that it is open
        }
        if (!table.isThere(key, session)) {
            table.release(session);
            engines.shared.over(key, session);
        }
    }
}
