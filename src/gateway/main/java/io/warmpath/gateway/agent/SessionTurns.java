package io.warmpath.gateway.agent;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.admission.Admission;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.session.Affinity;
import io.warmpath.session.SessionControl;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Makes requests turns of their sessions. Shared by all event loops. */
public final class SessionTurns {
    private final TurnParts parts;

    /**
     * @param affinity where a session's requests go
     * @param sessions that clients open and close
     */
    public SessionTurns(
            Affinity affinity,
            EngineSessions sessions,
            Planner planner,
            Admission admission,
            TokenLanes lanes) {
        this.parts = new TurnParts(affinity, sessions, planner, admission, lanes);
    }

    /**
     * Null when it is no session's, or sessions are not bound here. On the request's event loop.
     *
     * @throws GatewayException when what it says of its session is wrong, or not enough
     */
    public @Nullable SessionTurn of(Context context, InferenceRequest request, EngineForm form) {
        SessionControl control = request.hints().session();
        if (control != null) {
            SessionTurn turn = ControlledTurn.of(parts, context, request, form, control);
            return turn == null ? bound(request, control) : turn;
        }
        if (!parts.affinity().on()) {
            return null;
        }
        String id = SessionHeaders.checked(request);
        boolean last = SessionHeaders.last(request);
        return id.isEmpty()
                ? null
                : new AffinityTurn(parts, request, SessionHeaders.key(request, id), last, false);
    }

    /** A turn of a session that is not open here: it may have been bound at another gateway. */
    private @Nullable SessionTurn bound(InferenceRequest request, SessionControl control) {
        boolean closes = control.action() == SessionControl.Action.CLOSE;
        return parts.affinity().on()
                ? new AffinityTurn(
                        parts, request, SessionHeaders.key(request, control.id()), closes, closes)
                : null;
    }

    /**
     * The body of a chat with what was said before in its session, where the client does not send
     * that itself. On the request's event loop, where one of the two is called.
     *
     * @param next gets null when the body is right as it is
     * @throws GatewayException instead of {@code refused}
     */
    public void complete(
            Context context,
            InferenceRequest request,
            Consumer<@Nullable Buffer> next,
            Consumer<GatewayError> refused) {
        SessionHistory.complete(parts.sessions().table, context, request, next, refused);
    }
}
