package io.warmpath.routing;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.routing.rates.Pace;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Speeds;
import io.warmpath.routing.rates.Unheard;
import io.warmpath.routing.rates.WorkerRates;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the candidates, and what each of them costs. Stateless beside the load book and
 * the speeds; any thread. A worker whose block size is not known counts in tokens and has no match.
 */
public final class Scorer {
    private final RouterOptions options;
    private final LoadBook loads;
    private final @Nullable Speeds speeds;
    private final Model blocks = new Model(CostKind.BLOCKS, new BlockCost());
    private final Model latency;
    private volatile Roster roster = Roster.of(List.of());

    /** A cost, and the names of what is told of a candidate: the facts, then its terms. */
    private record Model(CostKind kind, CostModel cost, List<String> names) {
        Model(CostKind kind, CostModel cost) {
            this(kind, cost, Stream.concat(Facts.NAMES.stream(), cost.terms().stream()).toList());
        }
    }

    /**
     * @param speeds what the cost in milliseconds needs, and detailed scores keep; null: nothing is
     *     kept, and there is no such cost
     */
    public Scorer(RouterOptions options, LoadBook loads, @Nullable Speeds speeds) {
        if (speeds == null && options.shownCost() == CostKind.LATENCY) {
            throw new IllegalArgumentException("the cost in milliseconds needs speeds");
        }
        this.speeds = speeds;
        this.options = options;
        this.loads = loads;
        this.latency = new Model(CostKind.LATENCY, new LatencyCost(options.latency()));
    }

    private Model model(CostKind kind) {
        return kind == CostKind.BLOCKS ? blocks : latency;
    }

    /** The cost that does not decide, for who is told of it; null: there is none. */
    private @Nullable Model other(RouterOptions effective) {
        Model other = model(effective.shownCost().other());
        return effective.mode().comparesCosts()
                        && (other.kind() == CostKind.BLOCKS || speeds != null)
                ? other
                : null;
    }

    /** The costs of all candidates. {@code effective}: options for this request. */
    public Scores scoreAll(
            List<Candidate> candidates, RoutingRequest request, RouterOptions effective) {
        boolean detailed = request.detail() != RoutingRequest.Detail.CHOSEN;
        Model shown = model(effective.shownCost());
        CostModel model = shown.cost();
        List<String> names = shown.names();
        Model other = detailed ? other(effective) : null;
        int count = candidates.size();
        double[] costs = new double[count];
        double[] others = other == null ? null : new double[count];
        double[] terms = detailed ? new double[count * names.size()] : null;
        List<Score> scores = detailed ? new ArrayList<>(count) : List.of();
        PotentialBlocks potential = loads.potential(request.prompts());
        Facts facts = facts(request, effective.weights(), potential, candidates, shown);
        if (other != null) {
            other.cost().begin(facts, candidates);
        }
        UnheardWork unheard =
                shown.kind() == CostKind.LATENCY && facts.unheard.millis() > 0
                        ? new UnheardWork(count)
                        : null;
        RateState[] states = detailed && speeds != null ? new RateState[count] : null;
        for (int i = 0; i < count; i++) {
            Candidate candidate = candidates.get(i);
            read(candidate, facts);
            int at = i * names.size();
            double decode = facts.decodeBlocks();
            if (other != null && others != null && !other.cost().countsRunning()) {
                others[i] = other.cost().cost(facts, decode, null, 0);
            }
            if (model.countsRunning()) {
                facts.countRunning();
            }
            costs[i] = model.cost(facts, decode, terms, at + Facts.NAMES.size());
            if (unheard != null) {
                unheard.read(i, facts);
            }
            if (terms != null) {
                facts.write(terms, at);
                scores.add(score(candidate, facts, decode, costs[i]));
            }
            if (other != null && others != null && other.cost().countsRunning()) {
                facts.countRunning();
                others[i] = other.cost().cost(facts, decode, null, 0);
            }
            if (states != null) {
                states[i] = facts.rates;
            }
        }
        if (unheard != null) {
            double level = unheard.addTo(costs, facts.unheard.millis());
            for (int i = 0; terms != null && i < count; i++) {
                int at = i * names.size() + Facts.NAMES.size();
                LatencyCost.addUnheard(terms, at, unheard.added(i, level), costs[i]);
                scores.set(i, scores.get(i).withCost(costs[i]));
            }
        }
        return new Scores(
                candidates,
                names,
                costs,
                terms,
                detailed ? List.copyOf(scores) : scores,
                potential,
                states == null
                        ? null
                        : new Pace(
                                facts.nowNanos,
                                facts.fleet,
                                facts.outputTokens,
                                facts.unheard,
                                states),
                other == null || others == null ? null : new OtherCosts(other.kind(), others),
                unheard == null ? Unheard.NONE : facts.unheard);
    }

    /** Makes the decision's value: the chosen one's terms, and the others' when asked for. */
    public RoutingDecision decision(
            RoutingRequest request,
            List<Candidate> candidates,
            RouterOptions effective,
            Choice choice,
            @Nullable Scores compared) {
        Candidate chosen = candidates.get(choice.index());
        Scores all = compared;
        if (all == null) {
            all =
                    request.detail() == RoutingRequest.Detail.CHOSEN
                            ? Scores.NONE
                            : scoreAll(candidates, request, effective);
        }
        Score score;
        if (all.detailed() && all.size() > 0) {
            score = all.list().get(choice.index());
        } else {
            // Read again: a load that changed since shows here, not in the cost that was compared.
            Model model = model(effective.shownCost());
            PotentialBlocks potential =
                    compared == null ? loads.potential(request.prompts()) : compared.potential();
            Facts facts = facts(request, effective.weights(), potential, candidates, model);
            read(chosen, facts);
            if (model.cost().countsRunning()) {
                facts.countRunning();
            }
            double decode = facts.decodeBlocks();
            double cost =
                    all.size() > 0
                            ? all.cost(choice.index())
                            : model.cost().cost(facts, decode, null, 0);
            score = score(chosen, facts, decode, cost);
        }
        return new RoutingDecision(
                request,
                effective,
                choice,
                score,
                Facts.blocks(request.promptTokens(), chosen.worker().blockSize()),
                all);
    }

    /** What the decided request asks of its worker, in time; where speeds are kept. */
    public WorkerRates.Work work(RoutingDecision decision) {
        RoutingRequest request = decision.request();
        Facts facts =
                facts(
                        request,
                        decision.options().weights(),
                        decision.compared().potential(),
                        request.candidates(),
                        latency);
        read(decision.chosen().candidate(), facts);
        facts.countRunning();
        double[] terms = new double[latency.cost().terms().size()];
        latency.cost().cost(facts, facts.decodeBlocks(), terms, 0);
        return LatencyCost.work(facts, terms);
    }

    /**
     * The candidates that may be chosen, never none.
     *
     * @throws GatewayException when pins and taints leave none
     */
    public List<Candidate> eligible(RoutingRequest request) {
        if (request.candidates().isEmpty()) {
            throw new IllegalArgumentException("a decision needs at least one candidate");
        }
        return Eligibility.pinned(request)
                        || !request.taints().asksForNone()
                        || roster(request.candidates()).tainted()
                ? Eligibility.narrow(request, options.mode().comparesCosts())
                : request.candidates();
    }

    /** Some candidate of the request has another weight than 1. */
    public boolean weighted(RoutingRequest request) {
        return roster(request.candidates()).weighted();
    }

    @SuppressWarnings("ReferenceEquality") // a snapshot gives the same list until the fleet changes
    private Roster roster(List<Candidate> candidates) {
        Roster last = roster;
        if (last.of() != candidates) {
            last = Roster.of(candidates);
            roster = last;
        }
        return last;
    }

    public RouterOptions effective(RoutingRequest request) {
        return options.with(request.overrides());
    }

    public int requests(Candidate candidate) {
        return loads.load(candidate.slot()).requests();
    }

    private Facts facts(
            RoutingRequest request,
            BlockWeights weights,
            PotentialBlocks potential,
            List<Candidate> candidates,
            Model model) {
        Facts facts = new Facts(request, weights, loads, potential, roster(request.candidates()));
        boolean told = request.detail() != RoutingRequest.Detail.CHOSEN;
        if (speeds != null && (told || model.kind() == CostKind.LATENCY)) {
            facts.speeds = speeds;
            facts.nowNanos = speeds.now();
            facts.unheard = speeds.unheard();
            facts.fleet = speeds.fleet(request.candidates(), facts.nowNanos);
            double answer =
                    request.outputTokens() > 0 ? request.outputTokens() : speeds.outputTokens();
            int most = request.mostOutputTokens();
            facts.outputTokens = most > 0 ? Math.min(most, answer) : answer;
        }
        model.cost().begin(facts, candidates);
        return facts;
    }

    private static void read(Candidate candidate, Facts facts) {
        facts.read(candidate);
        Speeds speeds = facts.speeds;
        if (speeds != null) {
            facts.rates = speeds.state(facts.slot);
        }
    }

    private Score score(Candidate candidate, Facts f, double decode, double cost) {
        double[] terms = new double[blocks.cost().terms().size()];
        blocks.cost().cost(f, decode, terms, 0);
        int gpu = f.usable(f.gpu);
        int host = f.usable(f.host);
        int external = f.usable(f.external);
        double effective =
                gpu
                        + f.weights.hostWeight() * (host - gpu)
                        + f.weights.diskWeight() * (external - host);
        int prompt = f.request.promptTokens();
        return new Score(
                candidate,
                f.gpu,
                f.host,
                f.disk,
                f.external,
                f.sharedRun,
                f.usable(f.external + f.sharedRun) * f.blockSize,
                f.weights.trackPrefill() && f.request.part() != Part.DECODE
                        ? prompt - (int) Math.round(effective * f.blockSize)
                        : 0,
                BlockCost.prefillBlocks(terms),
                BlockCost.decodeBlocks(terms),
                cost);
    }
}
