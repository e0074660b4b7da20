package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Everything a decision needs.
 *
 * @param candidates ready ranks of the model, not empty
 * @param promptTokens length of the prompt; 0 when the tokens are not known, then load alone
 *     decides
 * @param matches one per block size among the candidates; empty when the index was not asked
 * @param prompts the prompt's blocks by name, one per block size among the candidates; empty when
 *     they are not known, then every block counts as a new one
 * @param pinnedWorker the client asked for this worker
 * @param pinnedRank the client asked for this dp rank
 */
public record RoutingRequest(
        List<Candidate> candidates,
        int promptTokens,
        List<PrefixMatch> matches,
        List<PromptBlocks> prompts,
        OptionalLong pinnedWorker,
        OptionalInt pinnedRank) {

    /** A request whose blocks have no names. */
    public RoutingRequest(
            List<Candidate> candidates,
            int promptTokens,
            List<PrefixMatch> matches,
            OptionalLong pinnedWorker,
            OptionalInt pinnedRank) {
        this(candidates, promptTokens, matches, List.of(), pinnedWorker, pinnedRank);
    }
}
