package io.warmpath.gateway;

import io.vertx.core.Context;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.RoutingDecision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The router for those who ask it and send their requests themselves: what would be decided, and
 * bookings.
 *
 * <p>Nothing is sent to an engine and nothing waits in the queue. Each question stays on its event
 * loop, where it is answered exactly once; nothing here blocks.
 */
public final class Advisor {
    private static final Logger LOG = Logger.getLogger(Advisor.class);

    /** Why a ready worker was not asked, as an explanation says it. */
    private static final String NOT_ALLOWED = "not in worker_ids";

    /**
     * One question about one prompt.
     *
     * @param request what would be sent; its body, edits and target are not looked at
     * @param workers ids of those that may be chosen; empty: all
     */
    public record Question(InferenceRequest request, Set<Long> workers) {
        public Question {
            workers = Set.copyOf(workers);
        }
    }

    /** How a question is answered; on its event loop. */
    public interface Reply {
        /**
         * @param tokensKnown false: load alone decided
         */
        void decided(RoutingDecision decision, boolean tokensKnown);

        void refused(GatewayError error);
    }

    private final RequestFlow flow;
    private final Reservations reservations;

    Advisor(RequestFlow flow) {
        this.flow = flow;
        this.reservations = new Reservations(flow);
    }

    /** The models that are served, sorted. */
    public List<String> models() {
        return flow.fleet.snapshot().models();
    }

    /** Decides and leaves no trace. On the question's event loop. */
    public void wouldDecide(Context context, Question question, Reply reply) {
        ask(
                context,
                question,
                reply,
                (candidates, tokens) ->
                        reply.decided(
                                flow.planner.dryRun(
                                        question.request(), candidates, tokens, NOT_ALLOWED),
                                tokens != null));
    }

    /**
     * Decides and books, until {@link #reservations} is told otherwise or {@code timeToLive} has
     * passed without a word. On the question's event loop.
     */
    public void reserve(
            Context context, Question question, String id, Duration timeToLive, Reply reply) {
        reservations.refuseIfTaken(id);
        ask(
                context,
                question,
                reply,
                (candidates, tokens) -> {
                    List<PromptBlocks> named = new ArrayList<>(1);
                    RoutingDecision decision =
                            flow.planner.decide(
                                    question.request(), candidates, tokens, named, null);
                    reservations.open(
                            context.owner(),
                            id,
                            decision,
                            Planner.blocksOn(decision.chosen().candidate().worker(), tokens, named),
                            question.request().hints().expectedOutput(),
                            timeToLive);
                    flow.planner.booked(question.request(), decision, tokens);
                    reply.decided(decision, tokens != null);
                });
    }

    public Reservations reservations() {
        return reservations;
    }

    private interface Decide {
        void on(List<Candidate> candidates, @Nullable PromptIds tokens);
    }

    private void ask(Context context, Question question, Reply reply, Decide decide) {
        InferenceRequest request = question.request();
        FleetSnapshot fleet = flow.fleet.snapshot();
        if (!fleet.knows(request.model())) {
            reply.refused(new GatewayError.UnknownModel(request.model()));
            return;
        }
        flow.tokenStep.run(
                context,
                request,
                Planner.candidates(fleet, request.model(), List.of()),
                tokens -> {
                    try {
                        List<Candidate> candidates = candidates(question);
                        if (candidates.isEmpty()) {
                            reply.refused(
                                    new GatewayError.NoHealthyWorker(
                                            request.model(), flow.options.retryAfter()));
                        } else {
                            decide.on(candidates, tokens);
                        }
                    } catch (GatewayException e) {
                        reply.refused(e.error());
                    } catch (RuntimeException e) {
                        LOG.errorf(e, "%s failed by a bug in the gateway", request.requestId());
                        reply.refused(new GatewayError.Internal(request.requestId()));
                    }
                });
    }

    /**
     * @throws GatewayException BadRequest when the question leaves none of those that are there
     */
    private List<Candidate> candidates(Question question) {
        List<Candidate> all =
                Planner.candidates(flow.fleet.snapshot(), question.request().model(), List.of());
        if (question.workers().isEmpty() || all.isEmpty()) {
            return all;
        }
        List<Candidate> allowed =
                all.stream().filter(c -> question.workers().contains(c.worker().id())).toList();
        if (allowed.isEmpty()) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            "worker_ids",
                            "None of `worker_ids` is a ready worker of the model `"
                                    + question.request().model()
                                    + "`; GET /workers lists them."));
        }
        return allowed;
    }
}
