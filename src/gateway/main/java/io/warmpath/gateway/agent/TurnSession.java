package io.warmpath.gateway.agent;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.ControlledSessions.Event;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionControl.Action;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SharedSessions;
import org.jspecify.annotations.Nullable;

/**
 * The session that a turn belongs to: opened by it, found open here, or taken over from another
 * gateway.
 *
 * @param said what was said in it before this turn; null: not known, or the turn closes it
 * @param adopted another gateway had it so far
 */
record TurnSession(
        SessionKey key, ControlledSession session, byte @Nullable [] said, boolean adopted) {
    /**
     * Null when there is no such session, and the request is as good without one.
     *
     * @throws GatewayException SessionConflict when it is not
     */
    static @Nullable TurnSession of(
            EngineSessions sessions,
            InferenceRequest request,
            EngineForm form,
            SessionControl control) {
        ControlledSessions table = sessions.table;
        SessionKey key = SessionHeaders.key(request, control.id());
        boolean closes = control.action() == Action.CLOSE;
        TurnSession found =
                control.action() == Action.OPEN || control.action() == Action.BIND
                        ? opened(table, key, request, control)
                        : found(sessions, key, request, form, control);
        if (found != null && !closes) {
            sessions.shared.turn(key, found.session());
        }
        return found;
    }

    private static @Nullable TurnSession opened(
            ControlledSessions table,
            SessionKey key,
            InferenceRequest request,
            SessionControl control) {
        ControlledSession session =
                table.open(key, control.timeoutSeconds(), control.action() == Action.BIND);
        return session == null
                ? null
                : new TurnSession(
                        key, session, SessionHistory.said(table, session, request), false);
    }

    private static @Nullable TurnSession found(
            EngineSessions sessions,
            SessionKey key,
            InferenceRequest request,
            EngineForm form,
            SessionControl control) {
        ControlledSessions table = sessions.table;
        ControlledSession session = table.find(key);
        boolean brings = !form.historyAdded() && SessionHistory.brings(request);
        if (!brings && !form.historyAdded()) {
            throw new GatewayException(
                    new GatewayError.SessionConflict(
                            control.id(),
                            session == null
                                    ? GatewayError.SessionConflict.Why.NOT_OPEN
                                    : GatewayError.SessionConflict.Why.NO_HISTORY));
        }
        boolean adopted = session == null;
        if (session == null) {
            session = adopted(sessions, key, control);
        } else {
            table.began(session);
        }
        if (session == null) {
            table.count(Event.UNKNOWN);
            return null;
        }
        if (brings) {
            table.bringsHistory(session);
        }
        if (control.action() == Action.CLOSE) {
            table.take(key, session);
            return new TurnSession(key, session, null, adopted);
        }
        return new TurnSession(key, session, SessionHistory.said(table, session, request), adopted);
    }

    /**
     * The session that another gateway had so far; a close needs none, and goes to that gateway.
     */
    private static @Nullable ControlledSession adopted(
            EngineSessions sessions, SessionKey key, SessionControl control) {
        SharedSessions.Elsewhere there =
                control.action() == Action.CLOSE ? null : sessions.shared.elsewhere(key);
        return there == null
                ? null
                : sessions.table.adopt(key, there.timeoutSeconds(), there.staysOnly());
    }
}
