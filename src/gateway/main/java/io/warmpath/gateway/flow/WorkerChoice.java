package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Openings;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.plan.Entrance;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.Prefiller;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.Splitting;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
        all = withPrefills(scope, all);
        if (!request.routing().workers().isEmpty()) {
            List<Candidate> open = reached(request, all);
            all =
                    open.isEmpty() // who is there may be on trial, or have a full queue
                            ? reached(
                                    request,
                                    Planner.anybody(fleet.snapshot(), request.model(), List.of()))
                            : open;
        }
        all = answering(scope, all);
        SessionTurn turn = scope.session();
        return turn == null ? all : turn.narrow(all);
    }

    private static List<Candidate> reached(InferenceRequest request, List<Candidate> all) {
        return all.stream().filter(c -> request.routing().reaches(c.worker().id())).toList();
    }

    /**
     * And those that prefill and can do all of it, where the cost says who does, or nobody else is
     * left.
     */
    private static List<Candidate> withPrefills(RequestScope scope, List<Candidate> all) {
        List<Candidate> prefills = prefills(scope);
        InferenceRequest request = scope.request();
        boolean byCost =
                request.routing().prefiller().isAny()
                        && scope.parts.planning().planner().wholeByCost(request.model());
        if (prefills.isEmpty() || (!byCost && !all.isEmpty())) {
            return all;
        }
        return Stream.concat(
                        all.stream(),
                        prefills.stream().filter(c -> c.worker().disaggregation().alone()))
                .distinct() // they are among all where nobody else is there
                .toList();
    }

    /** Those that can answer: who only decodes needs somebody that prefills. */
    private static List<Candidate> answering(RequestScope scope, List<Candidate> all) {
        if (areAlone(all)) {
            return all;
        }
        List<Candidate> prefills = prefills(scope);
        return all.stream()
                .filter(
                        c ->
                                c.worker().disaggregation().alone()
                                        || prefills.stream()
                                                .anyMatch(
                                                        p ->
                                                                Splitting.pair(
                                                                        p.worker(), c.worker())))
                .toList();
    }

    // A loop: it is asked of nearly every request, and nearly always so.
    private static boolean areAlone(List<Candidate> all) {
        for (int i = 0; i < all.size(); i++) {
            if (!all.get(i).worker().disaggregation().alone()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Those that can compute the prompt for another worker, and have not failed the request; of
     * these those that were named, where they are there. Empty where it cannot be split: {@link
     * InferenceRequest.Form#isUndivided}, and other APIs than those of answers.
     *
     * @throws GatewayException BadRequest: the client has named one that is not there
     */
    private static List<Candidate> prefills(RequestScope scope) {
        InferenceRequest request = scope.request();
        if (!splits(scope)) {
            return List.of();
        }
        List<Candidate> there = prefillsThere(scope);
        InferenceRequest.Routing routing = request.routing();
        List<Long> failed = scope.retryState.failed();
        List<Candidate> all = there;
        if (!failed.isEmpty() || !routing.workers().isEmpty()) {
            all =
                    all.stream()
                            .filter(c -> !failed.contains(c.worker().id()))
                            .filter(c -> routing.reaches(c.worker().id()))
                            .toList();
        }
        return routing.prefiller().isAny()
                ? Openings.withRoom(all)
                : named(routing.prefiller(), there, all);
    }

    /** {@code there}: all that prefill. {@code fit}: for this request. */
    private static List<Candidate> named(
            Prefiller who, List<Candidate> there, List<Candidate> fit) {
        if (who.worker().isPresent() && there.stream().noneMatch(who::names)) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            "nvext.prefill_worker_id",
                            "Worker "
                                    + Long.toUnsignedString(who.worker().getAsLong())
                                    + " computes no prompts for others (GET /workers has the roles)."));
        }
        List<Candidate> meant = fit.stream().filter(who::names).toList();
        return meant.isEmpty() ? fit : meant; // it has failed, or is an address of yesterday
    }

    private static boolean splits(RequestScope scope) {
        InferenceRequest request = scope.request();
        return scope.form.isAsSent()
                && !request.passThrough()
                && !request.form().isUndivided()
                && (!request.form().isSeveral() || !prefillsThere(scope).isEmpty());
    }

    /** Of several prompts vLLM hands over the first one's cache for all of them. */
    private static List<Candidate> prefillsThere(RequestScope scope) {
        InferenceRequest request = scope.request();
        List<Candidate> all = scope.parts.planning().fleet().snapshot().prefills(request.model());
        return request.form().isSeveral()
                ? all.stream().filter(c -> c.worker().kind() == EngineKind.SGLANG).toList()
                : all;
    }

    /** What is said where there is no candidate. */
    static GatewayError whyNone(RequestScope scope) {
        String model = scope.request().model();
        Duration later = scope.parts.options().retryAfter();
        FleetSnapshot fleet = scope.parts.planning().fleet().snapshot();
        List<Worker> serving =
                fleet.workers().stream().filter(w -> w.models().contains(model)).toList();
        if (serving.isEmpty() || serving.stream().anyMatch(w -> w.disaggregation().alone())) {
            return new GatewayError.NoHealthyWorker(model, later);
        }
        if (!splits(scope)) {
            return undivided(scope.request().form(), model);
        }
        List<Candidate> prefills = fleet.prefills(model);
        Role missing = prefills.isEmpty() ? Role.PREFILL : Role.DECODE;
        boolean strangers = !prefills.isEmpty() && !fleet.candidates(model).isEmpty();
        return new GatewayError.NoHealthyWorker(
                model,
                later,
                strangers
                        ? "those that prefill and those that decode differ in engine or transfer back end"
                        : "none of the role " + missing.label() + " is ready");
    }

    /** What is said where all workers of a model have roles. */
    private static GatewayError undivided(InferenceRequest.Form form, String model) {
        String member = "model";
        String need = "This request needs";
        String instead = "add a worker without a role";
        if (form.answers() > 1) {
            member = "n";
            need = "Several answers to one prompt need";
            instead = "send one request per answer";
        } else if (form.notExact() == NotExact.PROMPT_LOGPROBS) {
            member = "logprobs";
            need = "Log probabilities of the prompt need";
        } else if (form.isSeveral()) {
            member = "prompt";
            need = "Several prompts in one request need";
            instead = "send one request per prompt";
        }
        return new GatewayError.BadRequest(
                member,
                ("%s a worker that does whole requests, and those of the model `%s` have the"
                                + " roles prefill and decode only; %s.")
                        .formatted(need, model, instead));
    }

    /** Those that have not failed the request. */
    private static List<Candidate> others(RequestScope scope) {
        Fleet fleet = scope.parts.planning().fleet();
        return answering(
                scope,
                withPrefills(
                        scope,
                        Planner.candidates(
                                fleet,
                                scope.request().model(),
                                scope.retryState.failed(),
                                scope.draw)));
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
        return decide(scope, DecisionCause.FIRST, candidates, known, w -> whyNot(scope, turn, w));
    }

    /**
     * @param candidates not empty
     * @throws GatewayException the request cannot be served as its client wants it, or would need a
     *     prefill while all that could do it are busy
     */
    private static Planner.Decided decide(
            RequestScope scope,
            DecisionCause why,
            List<Candidate> candidates,
            @Nullable List<PrefixMatch> known,
            Function<Worker, String> others) {
        Planning planning = scope.parts.planning();
        String model = scope.request().model();
        List<Candidate> prefills = prefills(scope);
        List<Candidate> fit = tolerated(scope, prefills);
        List<Candidate> free = planning.entrance().admission().free(model, fit);
        List<Candidate> answering = candidates;
        if (free.isEmpty() && !prefills.isEmpty()) {
            answering =
                    candidates.stream().filter(c -> c.worker().disaggregation().alone()).toList();
        }
        if (answering.isEmpty() && !fit.isEmpty()) {
            throw Entrance.busy(planning.entrance(), scope.request());
        }
        if (answering.isEmpty()) { // to be refused by the names of the taints
            answering = candidates;
            free = prefills;
        }
        return planning.planner()
                .decide(
                        scope.request(),
                        scope.occasion(why),
                        answering,
                        free,
                        scope.prompt,
                        answering.size() == candidates.size() ? known : null,
                        scope.queued(),
                        others,
                        scope.trace);
    }

    /** Those that taints leave; all where somebody has said who it is to be. */
    private static List<Candidate> tolerated(RequestScope scope, List<Candidate> prefills) {
        InferenceRequest request = scope.request();
        return prefills.isEmpty() || !request.routing().prefiller().isAny()
                ? prefills
                : scope.parts.planning().planner().eligible(request.unpinned(), prefills);
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
            return decide(scope, why, left, null, w -> "failed this request");
        } catch (GatewayException e) {
            // The pinned rank exists on the failed worker only.
            LOG.debugf("%s no second attempt: %s", scope.request().requestId(), e.getMessage());
            return null;
        }
    }
}
