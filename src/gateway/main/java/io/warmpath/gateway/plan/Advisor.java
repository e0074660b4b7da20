package io.warmpath.gateway.plan;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.Overload;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.gateway.observe.TraceIds;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Visits;
import io.warmpath.load.LoadBook;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The router for those who ask it and send their requests themselves: what would be decided, and
 * bookings. Nothing is sent to an engine but, where nobody here knows a prompt's tokens, the
 * question for them. Questions do not wait; reservations are admitted as requests are. Each stays
 * on its event loop, where it is answered at most once: not when its caller has gone. Nothing here
 * blocks.
 */
public final class Advisor {
    private static final Logger LOG = Logger.getLogger(Advisor.class);

    /**
     * One question about one prompt.
     *
     * @param request what would be sent; its edits and target are not looked at, its body where an
     *     engine is asked for tokens
     * @param workers ids of those that may be chosen; empty: all
     */
    public record Question(InferenceRequest request, Set<Long> workers) {
        public Question {
            workers = Set.copyOf(workers);
        }

        private Question named(ModelNames names, @Nullable Visit visit) {
            if (visit != null && !visit.allows(request.name().asked())) {
                throw new GatewayException(new GatewayError.UnknownModel(request.name().asked()));
            }
            return new Question(request.of(visit).named(names), workers);
        }

        private boolean allows(Worker worker) {
            return workers.isEmpty() || workers.contains(worker.id());
        }

        /** Why a ready worker was not asked, as an explanation says it. */
        private String whyNot(Worker worker) {
            return allows(worker) ? "busy" : "not in worker_ids";
        }
    }

    /**
     * What shall be booked.
     *
     * @param id free, else it is refused
     * @param timeToLive without a word it is given up after this
     * @param mayWait false: when it would have to wait it is refused
     */
    public record Wish(Question question, String id, Duration timeToLive, boolean mayWait) {
        private Wish named(ModelNames names, @Nullable Visit visit) {
            return new Wish(question.named(names, visit), id, timeToLive, mayWait);
        }
    }

    /** How a question is answered; on its event loop. */
    public interface Reply {
        /** {@code tokensKnown}: false: load alone decided. */
        void decided(RoutingDecision decision, boolean tokensKnown);

        void refused(GatewayError error);
    }

    private final Planning planning;
    private final EntranceParts parts;
    private final Reservations reservations;

    public Advisor(Planning planning, LoadBook load) {
        this.planning = planning;
        this.parts = planning.entrance();
        this.reservations =
                new Reservations(planning.planner(), load, parts.admission(), parts.nanoTime());
    }

    /** The models that are served, sorted. */
    public List<String> models() {
        return planning.fleet().snapshot().models();
    }

    /**
     * Decides and leaves no trace. On the question's event loop. {@code asRequest}: busy workers
     * get nothing, as a request would find; else they are looked at too.
     */
    public void wouldDecide(Context context, Question asked, boolean asRequest, Reply reply) {
        Question question = asked.named(planning.models(), Visits.of(context));
        InferenceRequest request = question.request();
        ask(
                context,
                question,
                reply,
                (all, prompt) -> {
                    List<Candidate> free =
                            asRequest ? parts.admission().free(request.model(), all) : all;
                    if (Entrance.isBusy(parts.planner(), request, all, free)) {
                        reply.refused(Entrance.overloaded(parts, request, Overload.BUSY));
                    } else {
                        reply.decided(
                                parts.planner().dryRun(request, free, prompt, question::whyNot),
                                areKnown(prompt));
                    }
                });
    }

    /**
     * Waits for its turn, decides and books, until {@link #reservations} releases it or its time to
     * live has passed without news. On the question's event loop.
     *
     * @return what to do when the caller leaves; harmless after the answer
     */
    public Runnable reserve(Context context, Wish wished, Reply reply) {
        Wish wish = wished.named(planning.models(), Visits.of(context));
        reservations.refuseIfTaken(wish.id());
        Caller caller = new Caller(context, wish, reply);
        ask(context, wish.question(), reply, (all, prompt) -> caller.enter(prompt));
        return caller::gone;
    }

    /** Whoever wants a reservation, until it is booked or refused. */
    private final class Caller implements Entrance.Next {
        private final Context context;
        private final Wish wish;
        private final Reply reply;
        private final Entrance entrance;
        private AskedPrompt prompt = new AskedPrompt(planning.tokens());
        private boolean gone;

        Caller(Context context, Wish wish, Reply reply) {
            this.context = context;
            this.wish = wish;
            this.reply = reply;
            this.entrance =
                    new Entrance(
                            parts, wish.question().request(), () -> allowed(wish.question()), this);
        }

        void enter(AskedPrompt asked) {
            if (!gone) {
                prompt = asked;
                entrance.enter(context, asked.tokens(), wish.mayWait());
            }
        }

        void gone() {
            gone = true;
            entrance.leave();
        }

        private Occasion occasion(InferenceRequest request) {
            Visit visit = Visits.of(context);
            return new Occasion(
                    visit == null ? "" : visit.tenant(),
                    TraceIds.of(request.headers()),
                    1,
                    DecisionCause.RESERVATION);
        }

        @Override
        public void start(
                List<Candidate> candidates, @Nullable List<PrefixMatch> known, Waited waited) {
            InferenceRequest request = wish.question().request();
            RoutingDecision decision =
                    parts.planner()
                            .decide(
                                    request,
                                    occasion(request),
                                    candidates,
                                    List.of(),
                                    prompt,
                                    known,
                                    waited.nanos(),
                                    wish.question()::whyNot,
                                    null)
                            .decision();
            reservations.open(
                    context.owner(),
                    wish.id(),
                    decision,
                    prompt.blocks(decision.chosen().candidate().worker()),
                    request.hints().expectedOutput(),
                    wish.timeToLive());
            parts.planner().booked(request, decision, prompt.tokens());
            reply.decided(decision, areKnown(prompt));
        }

        @Override
        public void refused(Outcome outcome, GatewayError error) {
            reply.refused(error);
        }

        @Override
        public void crashed(RuntimeException cause) {
            bug(wish.question().request(), cause, reply);
        }
    }

    public Reservations reservations() {
        return reservations;
    }

    /** Slow starts are for what goes through this gateway. */
    private static final double NO_DRAW = 0;

    private interface Decide {
        void on(List<Candidate> candidates, AskedPrompt prompt);
    }

    private static boolean areKnown(AskedPrompt prompt) {
        EnginePrompts tokens = prompt.tokens();
        return tokens != null && !tokens.isGuess();
    }

    private void ask(Context context, Question question, Reply reply, Decide decide) {
        InferenceRequest request = question.request();
        FleetSnapshot now = planning.fleet().snapshot();
        if (!now.knows(request.model())) {
            reply.refused(
                    planning.models().unserved(now, request.name().asked(), parts.retryAfter()));
            return;
        }
        planning.tokens()
                .run(
                        context,
                        request,
                        Planner.anybody(now, request.model(), List.of()),
                        new TokenStep.Next() {
                            @Override
                            public void tokens(@Nullable EnginePrompts tokens) {
                                AskedPrompt prompt = new AskedPrompt(planning.tokens());
                                prompt.known(tokens);
                                decide(question, prompt, reply, decide);
                            }

                            @Override
                            public void without(NotExact why) {
                                AskedPrompt prompt = new AskedPrompt(planning.tokens());
                                prompt.unknown(why);
                                decide(question, prompt, reply, decide);
                            }
                        });
    }

    private void decide(Question question, AskedPrompt prompt, Reply reply, Decide decide) {
        InferenceRequest request = question.request();
        try {
            List<Candidate> candidates = candidates(question);
            if (candidates.isEmpty()) {
                reply.refused(
                        new GatewayError.NoHealthyWorker(request.model(), parts.retryAfter()));
            } else {
                decide.on(candidates, prompt);
            }
        } catch (GatewayException e) {
            reply.refused(e.error());
        } catch (RuntimeException e) {
            bug(request, e, reply);
        }
    }

    private static void bug(InferenceRequest request, RuntimeException cause, Reply reply) {
        LOG.errorf(cause, "%s failed by a bug in the gateway", request.requestId());
        reply.refused(new GatewayError.Internal(request.requestId()));
    }

    /** Any thread. */
    private List<Candidate> allowed(Question question) {
        String model = question.request().model();
        List<Candidate> open =
                allowed(question, Planner.candidates(planning.fleet(), model, List.of(), NO_DRAW));
        return open.isEmpty() // who is there may be on trial, or have a full queue
                ? allowed(question, Planner.anybody(planning.fleet().snapshot(), model, List.of()))
                : open;
    }

    /** Who sends a request itself sends it to one worker. */
    private static List<Candidate> allowed(Question question, List<Candidate> all) {
        return all.stream()
                .filter(c -> c.worker().disaggregation().alone() && question.allows(c.worker()))
                .toList();
    }

    /**
     * @throws GatewayException BadRequest when the question leaves none of those that are there
     */
    private List<Candidate> candidates(Question question) {
        List<Candidate> allowed = allowed(question);
        if (allowed.isEmpty()
                && !Planner.anybody(
                                planning.fleet().snapshot(), question.request().model(), List.of())
                        .isEmpty()) {
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
