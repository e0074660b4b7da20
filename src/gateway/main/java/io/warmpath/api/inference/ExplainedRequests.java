package io.warmpath.api.inference;

import io.vertx.core.Context;
import io.warmpath.api.connection.ClientRequest;
import io.warmpath.api.connection.Refusals;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.plan.Advisor;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.net.HeaderList;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.tokens.Tokenizing;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Requests whose client asks for more than the answer, or only for who would answer. What it wants
 * to see of the prompt is made on the tokenising threads before the request goes its way; where
 * that fails the answer comes without it. Handlers run on the event loop.
 */
public final class ExplainedRequests {
    private static final Logger LOG = Logger.getLogger(ExplainedRequests.class);

    private static final String COMPLETIONS = "/v1/completions";

    private final Fleet fleet;
    private final RequestFlow flow;
    private final Advisor advisor;
    private final Tokenizing tokens;
    private final TokenLanes threads;
    private final GatewayOptions options;
    private final FlowMetrics metrics;

    public ExplainedRequests(
            Fleet fleet,
            RequestFlow flow,
            Tokenizing tokens,
            TokenLanes threads,
            GatewayOptions options,
            FlowMetrics metrics) {
        this.fleet = fleet;
        this.flow = flow;
        this.advisor = flow.advisor();
        this.tokens = tokens;
        this.threads = threads;
        this.options = options;
        this.metrics = metrics;
    }

    /** Returns what to do when the client leaves. */
    Runnable start(
            Context context,
            ClientRequest client,
            String requestId,
            InferenceRequest request,
            EngineForm form,
            Runnable gone) {
        ExplainedRequest explained =
                new ExplainedRequest(context, client, requestId, request, form, gone);
        explained.begin();
        return explained::leave;
    }

    /** One of them. On its event loop. */
    private final class ExplainedRequest implements Advisor.Reply {
        private final Context context;
        private final ClientRequest client;
        private final String requestId;
        private final InferenceRequest request;
        private final EngineForm form;
        private final Runnable gone;
        private final Set<NvextField> extras;
        private final long receivedMillis = System.currentTimeMillis();
        private @Nullable NvextNote note;
        private @Nullable Runnable running;
        private boolean over;

        ExplainedRequest(
                Context context,
                ClientRequest client,
                String requestId,
                InferenceRequest request,
                EngineForm form,
                Runnable gone) {
            this.context = context;
            this.client = client;
            this.requestId = requestId;
            this.request = request;
            this.form = form;
            this.gone = gone;
            this.extras = request.passThrough() ? Set.of() : request.hints().extras();
        }

        void begin() {
            if (!PromptNote.isAskedFor(extras)) {
                go(PromptNote.UNKNOWN);
                return;
            }
            try {
                threads.lengthy(
                        () -> {
                            PromptNote made = make();
                            context.runOnContext(v -> go(made));
                        });
            } catch (RejectedExecutionException e) {
                LOG.debugf("%s: no thread is free to show its prompt", requestId);
                go(PromptNote.UNKNOWN);
            }
        }

        /** Any thread; never throws. */
        private PromptNote make() {
            try {
                String model = request.named(flow.models()).model();
                return PromptNote.of(request, model, fleet.snapshot(), tokens);
            } catch (RuntimeException | LinkageError e) {
                LOG.debugf(e, "%s: its prompt cannot be shown", requestId);
                return PromptNote.UNKNOWN;
            }
        }

        private void go(PromptNote prompt) {
            if (over) {
                return;
            }
            NvextNote mine =
                    new NvextNote(
                            request,
                            !request.target().startsWith(COMPLETIONS),
                            prompt,
                            receivedMillis);
            note = mine;
            if (extras.contains(NvextField.QUERY_ONLY)) {
                advisor.wouldDecide(context, new Advisor.Question(request, Set.of()), true, this);
                return;
            }
            running =
                    flow.start(
                            context,
                            request,
                            new ExplainedAnswer(
                                    client.answer(requestId, options.rawPath(), gone),
                                    mine,
                                    bytes -> BodyMemory.take(context, bytes)),
                            form);
        }

        void leave() {
            if (running != null) {
                running.run();
            } else if (!over) {
                over = true;
                metrics.cancelledEarly();
            }
        }

        @Override
        public void decided(RoutingDecision decision, boolean tokensKnown) {
            NvextNote mine = note;
            if (over || mine == null) {
                return;
            }
            over = true;
            if (request.form().explain()) {
                mine.explain(decision);
            }
            byte[] body =
                    mine.query(
                            decision.chosen().candidate().worker().id(),
                            decision.chosen().candidate().dpRank(),
                            request.stream());
            Answer answer = client.answer(requestId, options.rawPath(), gone);
            String type = request.stream() ? "text/event-stream" : "application/json";
            answer.head(200, new HeaderList().add("content-type", type), null, false);
            answer.end(body, 0, body.length);
        }

        @Override
        public void refused(GatewayError error) {
            if (!over) {
                over = true;
                metrics.rejected();
                metrics.refused(Refusals.of(client, requestId, error));
                client.refuse(error, requestId);
            }
        }
    }
}
