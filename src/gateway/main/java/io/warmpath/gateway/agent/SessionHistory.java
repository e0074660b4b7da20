package io.warmpath.gateway.agent;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayError.SessionConflict.Why;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionControl.Action;
import io.warmpath.tokens.template.PromptInput;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Turns that bring only what is new: what was said before is put in front of it. A turn with an
 * answer among its messages brings the history itself; raw prompts always are whole. On the
 * request's event loop.
 */
final class SessionHistory {
    private SessionHistory() {}

    /**
     * Hands on the body of a chat as the engine is to get it, on the same loop, now or as soon as
     * the last answer has been read.
     *
     * @param next gets null when the body is right as it is
     * @param refused gets what is in the way
     * @throws GatewayException SessionConflict
     */
    static void complete(
            ControlledSessions table,
            Context context,
            InferenceRequest request,
            Consumer<@Nullable Buffer> next,
            Consumer<GatewayError> refused) {
        SessionControl control = request.hints().session();
        if (control == null || control.action() == Action.OPEN || control.action() == Action.BIND) {
            next.accept(null);
            return;
        }
        ControlledSession session = table.find(SessionHeaders.key(request, control.id()));
        if (session == null || brings(request)) {
            next.accept(null);
            return;
        }
        if (session.isAnswering()) {
            throw conflict(control, Why.ANSWERING);
        }
        CompletableFuture<Void> keeping = session.keeping();
        if (keeping == null || keeping.isDone()) {
            next.accept(whole(session, request, control));
            return;
        }
        CompletableFuture<Void> unused =
                keeping.whenComplete(
                        (ok, e) ->
                                context.runOnContext(
                                        v -> {
                                            try {
                                                next.accept(whole(session, request, control));
                                            } catch (GatewayException g) {
                                                refused.accept(g.error());
                                            }
                                        }));
    }

    private static Buffer whole(
            ControlledSession session, InferenceRequest request, SessionControl control) {
        byte[] before = session.conversation();
        ChatMessages own = ChatMessages.find(request.body(), false);
        if (before.length == 0 || own == null) {
            throw conflict(control, Why.NO_HISTORY);
        }
        return own.after(before, request.body());
    }

    private static GatewayException conflict(SessionControl control, Why why) {
        return new GatewayException(new GatewayError.SessionConflict(control.id(), why));
    }

    /** Whether a turn after the first can be sent as it is. */
    static boolean brings(InferenceRequest request) {
        if (!isChat(request)) {
            return true;
        }
        ChatMessages found = ChatMessages.find(request.body(), false);
        return found == null || found.answers();
    }

    /**
     * What this turn's history is without its answer; null where it cannot be kept. What was kept
     * before is forgotten then, as it is not all that was said.
     */
    static byte @Nullable [] said(
            ControlledSessions table, ControlledSession session, InferenceRequest request) {
        int max = table.maxHistoryBytes();
        boolean chat = isChat(request);
        if (!chat) {
            table.bringsHistory(session);
        }
        if (chat && max > 0 && request.body().length() <= 2L * max + (64 << 10)) {
            ChatMessages found = ChatMessages.find(request.body(), true);
            if (found != null && found.to() - found.from() <= max) {
                return found.bytes(request.body());
            }
        }
        table.forget(session);
        return null;
    }

    private static boolean isChat(InferenceRequest request) {
        return request.prompt() instanceof PromptInput.Chat
                || request.prompt() instanceof PromptInput.Conversation;
    }
}
