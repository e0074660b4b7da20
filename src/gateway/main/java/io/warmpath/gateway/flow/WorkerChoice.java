package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Which workers one request may go to, and which of them it is to go to now. */
final class WorkerChoice {
    private static final Logger LOG = Logger.getLogger(WorkerChoice.class);

    private WorkerChoice() {}

    /** Those that may be asked first, in any state of load. Any thread. */
    static List<Candidate> candidates(RequestScope scope) {
        Fleet fleet = scope.parts.planning().fleet();
        InferenceRequest request = scope.request();
        List<Candidate> all =
                request.routing().pinnedWorker().isPresent()
                        ? Planner.anybody(fleet.snapshot(), request.model(), List.of())
                        : Planner.candidates(fleet, request.model(), List.of(), scope.draw);
        if (!request.routing().workers().isEmpty()) {
            all = all.stream().filter(c -> request.routing().reaches(c.worker().id())).toList();
        }
        SessionTurn turn = scope.session();
        return turn == null ? all : turn.narrow(all);
    }

    /** Those that have not failed the request. */
    private static List<Candidate> others(RequestScope scope) {
        Fleet fleet = scope.parts.planning().fleet();
        return Planner.candidates(
                fleet, scope.request().model(), scope.retryState.failed(), scope.draw);
    }

    /** Those beside this worker that have not failed the request. */
    static List<Candidate> others(RequestScope scope, Candidate beside) {
        long worker = beside.worker().id();
        return others(scope).stream().filter(c -> c.worker().id() != worker).toList();
    }

    /** Those that are well and could take over from this one. */
    static List<Candidate> wellOthers(RequestScope scope, Candidate from) {
        return scope.request().routing().pinnedWorker().isPresent()
                ? List.of()
                : others(scope, from).stream()
                        .filter(c -> c.worker().state() == WorkerState.READY)
                        .toList();
    }

    /**
     * @param candidates not empty
     * @param known what the index has said already; null: it is asked
     */
    static Planner.Decided first(
            RequestScope scope, List<Candidate> candidates, @Nullable List<PrefixMatch> known) {
        SessionTurn turn = scope.session();
        return scope.parts
                .planning()
                .planner()
                .decide(
                        scope.request(),
                        scope.occasion(DecisionCause.FIRST),
                        candidates,
                        scope.prompt.tokens(),
                        scope.prompt.named(),
                        known,
                        scope.queued(),
                        w -> whyNot(scope, turn, w),
                        scope.trace);
    }

    private static String whyNot(RequestScope scope, @Nullable SessionTurn turn, Worker w) {
        if (!scope.request().routing().reaches(w.id())) {
            return "not among the endpoints that the proxy allows";
        }
        return turn == null ? "busy" : turn.whyNot(w);
    }

    /**
     * @param why another one is to be asked
     * @param fit which candidates can be asked
     * @return null: all workers that are there have failed this request
     */
    static Planner.@Nullable Decided elsewhere(
            RequestScope scope, DecisionCause why, Predicate<Candidate> fit) {
        List<Candidate> left = others(scope).stream().filter(fit).toList();
        if (left.isEmpty()) {
            return null;
        }
        SessionTurn turn = scope.session();
        if (turn != null) {
            turn.narrowed(left);
        }
        try {
            return scope.parts
                    .planning()
                    .planner()
                    .decide(
                            scope.request(),
                            scope.occasion(why),
                            left,
                            scope.prompt.tokens(),
                            scope.prompt.named(),
                            null,
                            scope.queued(),
                            w -> "failed this request",
                            scope.trace);
        } catch (GatewayException e) {
            // The pinned rank exists on the failed worker only.
            LOG.debugf("%s no second attempt: %s", scope.request().requestId(), e.getMessage());
            return null;
        }
    }
}
