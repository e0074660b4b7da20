package io.warmpath.gateway.plan;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.EventWatch;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.RoutingDecision;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Which prompts engines have computed, by the blocks that their events show, before any part of the
 * answer is there. A rank whose events come too late for it, or do not show what it holds, is not
 * waited for until they do again. Any thread.
 */
public final class ComputedPrompts {
    private static final Logger LOG = Logger.getLogger(ComputedPrompts.class);

    /** Of the last answers of a rank, one bit each; a set one: not shown before its end. */
    private static final int LAST = 0xff;

    /** So many of them are the most. */
    private static final int MOST_UNSHOWN = 4;

    private final Overlaps overlaps;
    private final EventWatch events;
    private final Map<Integer, Integer> unshown = new ConcurrentHashMap<>();

    ComputedPrompts(Overlaps overlaps, EventWatch events) {
        this.overlaps = overlaps;
        this.events = events;
    }

    /** Its worker's events can show when it is computed. {@code decision}: that it follows. */
    public boolean canShow(RoutingDecision decision, AskedPrompt prompt) {
        return newBlocks(decision, prompt) > 0
                && overlaps.reportedByEngines()
                && !decision.drifted();
    }

    /** Where they can, they do in time, as far as the last answers of the rank say. */
    public boolean areExpected(RoutingDecision decision) {
        int slot = decision.chosen().candidate().slot().value();
        return Integer.bitCount(unshown.getOrDefault(slot, 0)) <= MOST_UNSHOWN;
    }

    /** Its worker's events show all of its whole blocks; false also where they tell nothing. */
    public boolean isShown(InferenceRequest request, RoutingDecision decision, AskedPrompt prompt) {
        Candidate at = decision.chosen().candidate();
        PromptContent content = prompt.content(at.worker());
        int whole = newBlocks(decision, prompt);
        if (content == null || whole == 0) {
            return false;
        }
        try {
            for (PrefixMatch held :
                    overlaps.matches(request.model(), request.space(), List.of(at), content)) {
                if (held.blockSize() == at.worker().blockSize()) {
                    return held.depth(at.slot(), Tier.DISK) >= whole;
                }
            }
        } catch (RuntimeException e) {
            LOG.debugf(e, "asking the index of a prompt that is computed"); // decisions warn of it
        }
        return false;
    }

    /**
     * Whole blocks of the prompt where some of them are new to the rank, whose events are exact.
     */
    private int newBlocks(RoutingDecision decision, AskedPrompt prompt) {
        Candidate at = decision.chosen().candidate();
        PromptContent content = prompt.content(at.worker());
        int blockSize = at.worker().blockSize();
        if (content == null || blockSize <= 0 || events.view(at) != EventView.EXACT) {
            return 0;
        }
        int whole = content.length() / blockSize;
        return whole * blockSize > decision.chosen().cachedTokens() ? whole : 0;
    }

    /** Whether a rank that can has shown it in time: before its answer ended at the latest. */
    public void told(RoutingDecision decision, boolean shown) {
        unshown.merge(
                decision.chosen().candidate().slot().value(),
                shown ? 0 : 1,
                (before, bit) -> (before << 1 | bit) & LAST);
    }
}
