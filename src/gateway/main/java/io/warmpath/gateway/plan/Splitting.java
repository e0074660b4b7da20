package io.warmpath.gateway.plan;

import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Part;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.TransferCost;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request is done whole by one worker, or its prompt by one and its answer by another.
 * Where both can be, the cheaper way is taken: the least cost of a worker that does all of it
 * against the least cost of prefill, the transfer, and the least cost of decoding. Any thread.
 *
 * @param transfer from the one to the other
 */
record Splitting(TransferCost transfer) {
    /**
     * @param candidates for {@code part}, not empty
     * @param part {@link Part#WHOLE} or {@link Part#DECODE}
     */
    record Plan(List<Candidate> candidates, Part part) {}

    /** What a worker would cost; leaves no trace. */
    @FunctionalInterface
    interface Asked {
        RoutingDecision dryRun(InferenceRequest request, List<Candidate> candidates, Part part);
    }

    /**
     * @param candidates not empty; without prefills, none that only decodes is among them
     */
    Plan plan(
            Asked router,
            InferenceRequest request,
            List<Candidate> candidates,
            List<Candidate> prefills,
            @Nullable EnginePrompts tokens) {
        if (prefills.isEmpty()) {
            return new Plan(candidates, Part.WHOLE);
        }
        List<Candidate> decodes =
                candidates.stream().filter(c -> !c.worker().disaggregation().alone()).toList();
        if (decodes.isEmpty()) {
            return new Plan(candidates, Part.WHOLE);
        }
        if (decodes.size() == candidates.size()) {
            return new Plan(decodes, Part.DECODE);
        }
        List<Candidate> alone =
                candidates.stream().filter(c -> c.worker().disaggregation().alone()).toList();
        RoutingDecision whole = router.dryRun(request, alone, Part.WHOLE);
        RoutingDecision prefill = router.dryRun(request.unpinned(), prefills, Part.PREFILL);
        RoutingDecision decode = router.dryRun(request, decodes, Part.DECODE);
        CostKind kind = whole.options().shownCost();
        double moved =
                transfer.of(
                        kind,
                        tokens == null ? 0 : tokens.length(),
                        prefill.chosen().candidate().worker().blockSize());
        double split = prefill.chosen().cost() + moved + decode.chosen().cost();
        return whole.chosen().cost() <= split
                ? new Plan(alone, Part.WHOLE)
                : new Plan(decodes, Part.DECODE);
    }
}
