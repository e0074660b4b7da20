package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Everything a decision needs.
 *
 * @param candidates ready ranks of the model, not empty
 * @param promptTokens length of the prompt; 0 when the tokens are not known, then load alone
 *     decides
 * @param matches one per block size among the candidates; empty when the index was not asked
 * @param prompts the prompt's blocks by name, one per block size among the candidates; empty when
 *     they are not known, then every block counts as a new one and ties remember nothing
 * @param pinnedWorker the client asked for this worker
 * @param pinnedRank the client asked for this dp rank
 * @param taints what it makes of workers' taints
 * @param overrides what this request wants otherwise; whether blocks are shared is said by the
 *     prompts themselves
 * @param shared what shared pools hold of the prompt; null when there is none or none was asked
 * @param outputTokens how long the answer is expected to be; 0 when not known
 * @param mostOutputTokens how long the client lets it be; 0 when not said
 * @param detail how much the decision tells, and whether it is one
 * @param ineligible workers that are not among the candidates, for the explanation only
 * @param circumstances what held beside it, for the explanation only
 * @param pins who keeps a beginning of the prompt; null when nobody does
 * @param part what the worker is to do of it
 * @param transfer of what comes to a worker that decodes and that it does not hold
 * @param adapter where its adapter would have to be loaded; null: it wants none
 */
public record RoutingRequest(
        List<Candidate> candidates,
        int promptTokens,
        List<PrefixMatch> matches,
        List<PromptBlocks> prompts,
        OptionalLong pinnedWorker,
        OptionalInt pinnedRank,
        TaintRules taints,
        RouterOverrides overrides,
        @Nullable SharedView shared,
        int outputTokens,
        int mostOutputTokens,
        Detail detail,
        List<Ineligible> ineligible,
        Circumstances circumstances,
        @Nullable PinView pins,
        Part part,
        TransferCost transfer,
        @Nullable AdapterView adapter) {

    /** What the decision is made for. */
    public enum Detail {
        /** Only the chosen candidate's terms are kept. */
        CHOSEN,
        /** Every candidate's terms are kept. */
        ALL,
        /** As {@link #ALL}, and nothing is remembered of the decision: it will not be acted on. */
        DRY_RUN
    }

    /** A request that wants nothing special and whose blocks have no names. */
    public static RoutingRequestBuilder builder(
            List<Candidate> candidates, int promptTokens, List<PrefixMatch> matches) {
        return new RoutingRequestBuilder(candidates, promptTokens, matches);
    }

    /** What is known of the prompt in blocks of this size; null: nothing is. */
    public @Nullable PromptBlocks prompt(int blockSize) {
        for (int i = 0; i < prompts.size(); i++) {
            if (prompts.get(i).blockSize() == blockSize) {
                return prompts.get(i);
            }
        }
        return null;
    }

    /** Who holds the prompt in blocks of this size; null: nobody was asked. */
    public @Nullable PrefixMatch match(int blockSize) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == blockSize) {
                return matches.get(i);
            }
        }
        return null;
    }

    public RoutingRequestBuilder toBuilder() {
        return new RoutingRequestBuilder(this);
    }

    public RoutingRequest with(Detail other) {
        return toBuilder().detail(other).build();
    }

    public RoutingRequest with(Circumstances other) {
        return toBuilder().circumstances(other).build();
    }

    public RoutingRequest with(TaintRules other) {
        return toBuilder().taints(other).build();
    }

    public RoutingRequest with(RouterOverrides other) {
        return toBuilder().overrides(other).build();
    }

    public RoutingRequest with(SharedView other) {
        return toBuilder().shared(other).build();
    }

    public RoutingRequest with(@Nullable PinView other) {
        return toBuilder().pins(other).build();
    }

    public RoutingRequest withPrompts(List<PromptBlocks> others) {
        return toBuilder().prompts(others).build();
    }
}
