package io.warmpath.api.inference;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.ClientRequest;
import io.warmpath.api.connection.RawRequest;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.request.InferencePath;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import org.jspecify.annotations.Nullable;

/** Requests of OpenAI's API: each is read, then starts on its way to an engine. */
public final class InferenceEndpoint {
    private final BodyReceiver bodies;
    private final LongBodies longBodies;
    private final ExplainedRequests explained;
    private final RequestFlow flow;
    private final GatewayOptions options;
    private final FlowMetrics metrics;

    public InferenceEndpoint(
            RequestFlow flow,
            ExplainedRequests explained,
            TokenLanes threads,
            GatewayOptions options,
            FlowMetrics metrics,
            BodyReceiver bodies) {
        this.longBodies =
                new LongBodies(
                        threads,
                        flow.looksAtPrompts(),
                        options.forwardHandOff(),
                        flow.objectives(),
                        metrics);
        this.explained = explained;
        this.flow = flow;
        this.options = options;
        this.metrics = metrics;
        this.bodies = bodies;
    }

    /** A request of OpenAI's API. On the request's event loop. */
    public void handle(HttpServerRequest request) {
        InferencePath path = InferencePath.of(request.path());
        bodies.receive(
                request,
                (context, client, requestId, body, gone) ->
                        read(
                                context,
                                new VertxRequest(client, ErrorForm.OPENAI),
                                requestId,
                                path,
                                body,
                                gone));
    }

    /** A request of OpenAI's API that is there as a whole. On its event loop, as its task. */
    public void handle(RawRequest request, Buffer body) {
        bodies.receive(
                request,
                (requestId, gone) ->
                        read(request.context(), request, requestId, request.path(), body, gone));
    }

    /**
     * A request of one of the engines' APIs that is there as a whole, whoever has brought it. On
     * its event loop.
     *
     * @param gone what to do when the client's connection ends, maybe more than once
     * @return what to do when the client leaves
     * @throws io.warmpath.fault.GatewayException its body is wrong
     */
    public Runnable read(
            Context context,
            ClientRequest client,
            String requestId,
            InferencePath path,
            Buffer body,
            Runnable gone) {
        return longBodies.read(
                context,
                client,
                requestId,
                path,
                body,
                parsed ->
                        parsed.hints().session() == null || parsed.passThrough()
                                ? start(
                                        context,
                                        client,
                                        requestId,
                                        parsed,
                                        EngineForm.AS_SENT,
                                        gone)
                                : new SessionStart(context, client, requestId, gone).begin(parsed));
    }

    /** A turn of a session, whose body may lack what was said before. */
    private final class SessionStart {
        private final Context context;
        private final ClientRequest client;
        private final String requestId;
        private final Runnable gone;
        private @Nullable Runnable leave;
        private boolean over;

        SessionStart(Context context, ClientRequest client, String requestId, Runnable gone) {
            this.context = context;
            this.client = client;
            this.requestId = requestId;
            this.gone = gone;
        }

        Runnable begin(InferenceRequest parsed) {
            flow.complete(
                    context,
                    parsed,
                    whole -> {
                        if (over) {
                            return;
                        }
                        if (whole == null) {
                            go(parsed, false);
                        } else {
                            leave =
                                    longBodies.read(
                                            context,
                                            client,
                                            requestId,
                                            InferencePath.CHAT,
                                            whole,
                                            longer -> go(longer, true));
                        }
                    },
                    this::refuse);
            return this::leave;
        }

        private Runnable go(InferenceRequest request, boolean historyAdded) {
            Runnable running =
                    start(context, client, requestId, request, new SessionForm(historyAdded), gone);
            leave = running;
            return running;
        }

        private void refuse(GatewayError error) {
            if (!over) {
                over = true;
                metrics.rejected();
                metrics.refused(Refusals.of(client, requestId, error));
                client.refuse(error, requestId);
            }
        }

        private void leave() {
            Runnable running = leave;
            if (running != null) {
                running.run();
            } else if (!over) {
                over = true;
                metrics.cancelledEarly();
            }
        }
    }

    private Runnable start(
            Context context,
            ClientRequest client,
            String requestId,
            InferenceRequest parsed,
            EngineForm form,
            Runnable gone) {
        if (parsed.form().explain() || !parsed.hints().extras().isEmpty()) {
            return explained.start(context, client, requestId, parsed, form, gone);
        }
        Answer answer = client.answer(requestId, options.rawPath(), gone);
        return flow.start(context, parsed, answer, form);
    }
}
