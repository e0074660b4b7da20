package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventTrust;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The winner, and why. Immutable. The log line, the response headers, the explanation and a failing
 * test print this same object.
 *
 * <p>Every candidate's terms are in it when the request asked for them; otherwise a decision holds
 * the chosen one's terms and one number per candidate.
 *
 * @param request what was decided on
 * @param options what held for this request, overrides included
 * @param choice how it was chosen
 * @param chosen the winner's terms
 * @param blocks KV blocks the request will occupy on the chosen worker (prompt blocks, rounded up;
 *     at least one, so that a prompt of unknown length is seen by the next decision)
 * @param compared the costs of the candidates that were left by the client's pins; empty in the
 *     modes that do not compare costs, unless every term was asked for
 * @param notExact why the engine may report another number than {@link Score#cachedTokens}; null:
 *     it may not
 */
public record RoutingDecision(
        RoutingRequest request,
        RouterOptions options,
        Choice choice,
        Score chosen,
        int blocks,
        Scores compared,
        @Nullable NotExact notExact) {
    /** A decision of which nobody has asked yet how far its prediction goes. */
    public RoutingDecision(
            RoutingRequest request,
            RouterOptions options,
            Choice choice,
            Score chosen,
            int blocks,
            Scores compared) {
        this(request, options, choice, chosen, blocks, compared, null);
    }

    /** The decision, its request, choice, score, overrides and circumstances. */
    private static final long FIXED_BYTES = 560;

    public RouterMode mode() {
        return options.mode();
    }

    /**
     * The same for keeping: without the prompt's blocks by name, which are as many as the prompt is
     * long. Where every candidate has its terms, it can be decided again; otherwise who holds what
     * of the prompt is not kept either.
     */
    public RoutingDecision kept() {
        RoutingRequestBuilder without = request.toBuilder().prompts(List.of());
        if (!compared.detailed()) {
            without.matches(List.of()).pins(null);
        }
        return new RoutingDecision(
                without.build(), options, choice, chosen, blocks, compared.kept(), notExact);
    }

    /** Heap that only a {@link #kept} decision takes, at most: workers and settings are others'. */
    public long heapBytes() {
        int candidates = request.candidates().size();
        long bytes = FIXED_BYTES + 8L * candidates + compared.heapBytes();
        for (int i = 0; i < request.matches().size(); i++) {
            bytes += request.matches().get(i).heapBytes();
        }
        bytes += 32L * request.circumstances().events().size();
        bytes += request.part() == Part.DECODE ? TransferCost.HEAP_BYTES : 0;
        for (Ineligible i : request.ineligible()) {
            bytes += 80 + i.label().length() + i.reason().length();
        }
        SharedView view = request.shared();
        if (view != null) {
            for (SharedView.Pool pool : view.pools()) {
                SharedHits hits = pool.hits();
                bytes += 96 + (hits == null ? 0 : 48 + 4L * hits.bounds().size());
            }
        }
        PinView pins = request.pins();
        AdapterView adapter = request.adapter();
        bytes += adapter == null ? 0 : 64 + 64L * adapter.turns().size();
        return bytes + (pins == null ? 0 : 64 + 40L * pins.held().size());
    }

    /** Every candidate's terms; empty unless the request asked for them, and of kept ones. */
    public List<Score> scores() {
        return compared.list();
    }

    /**
     * One short phrase, such as {@code lowest cost 3.0 of 4} or {@code pinned by client}; behind a
     * semicolon that it copies a hot prefix, and what the other cost would have taken, where it is
     * known and another one.
     */
    public String reason() {
        String copy =
                compared.detailed() && compared.size() > 0
                        ? LatencyCost.copying(compared, choice.index())
                        : "";
        String other = otherChoice();
        return why() + (copy.isEmpty() ? "" : "; " + copy) + (other.isEmpty() ? "" : "; " + other);
    }

    private String otherChoice() {
        OtherCosts other = compared.other();
        if (other == null || other.agrees(choice.index())) {
            return "";
        }
        String first = compared.candidate(other.lowest()).label();
        String who = other.ties() == 1 ? first : first + " (" + other.ties() + " cost the same)";
        return choice.kind() == Choice.Kind.SAMPLED
                ? "by " + other.kind().flag() + " the lowest cost is that of " + who
                : other.kind().flag() + " would have taken " + who;
    }

    private String why() {
        if (!Eligibility.pinned(request)) {
            return choice.why();
        }
        return choice.kind() == Choice.Kind.ONLY_CANDIDATE || choice.candidates() == 1
                ? "pinned by client"
                : "pinned by client, " + choice.why();
    }

    /** For each candidate of the request why it could not be chosen; empty when it could. */
    public List<String> ineligible() {
        return Eligibility.reasons(request, mode().comparesCosts());
    }

    /** How far the chosen rank's events can be relied on; null where nobody asked. */
    public @Nullable EventTrust events() {
        List<EventTrust> events = request.circumstances().events();
        for (int i = 0; i < events.size(); i++) {
            if (request.candidates().get(i).slot().equals(chosen.candidate().slot())) {
                return events.get(i);
            }
        }
        return null;
    }

    /** What the chosen worker takes, as far as its cost is a time; else 0. */
    public double expectedMillis() {
        return options.shownCost() == CostKind.LATENCY ? chosen.cost() : 0;
    }

    /** The chosen worker makes other tokens of such prompts, so that load alone decided on it. */
    public boolean drifted() {
        return drifted(chosen.candidate());
    }

    /**
     * The same with what its engine will report.
     *
     * @param cachedTokens of the prompt
     * @param reason why it may be another number; null: it may not
     */
    public RoutingDecision predicting(int cachedTokens, @Nullable NotExact reason) {
        return new RoutingDecision(
                request,
                options,
                choice,
                chosen.withCached(cachedTokens),
                blocks,
                compared,
                reason);
    }

    /** What was known of the prompt by its text or length alone: its tokens are a guess. */
    public boolean guessed() {
        return request.circumstances().prompt().isGuess();
    }

    /** As {@link #drifted()}, of one of the candidates. */
    public boolean drifted(Candidate candidate) {
        return request.circumstances().drifted().contains(candidate.worker().kind());
    }

    /** Blocks of a pool that count for the chosen worker, each by the multiplier. */
    public int sharedBlocks() {
        SharedView view = request.shared();
        SharedHits hits = view == null ? null : view.hits(chosen.candidate().worker());
        return hits == null
                ? 0
                : hits.credited(
                        options.weights().sharedRule(),
                        chosen.gpuBlocks(),
                        chosen.externalBlocks());
    }

    @Override
    public String toString() {
        return mode().flag()
                + " "
                + reason()
                + ": "
                + chosen
                + (compared.detailed() ? " " + compared.list() : "");
    }
}
