package io.warmpath.gateway.plan;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.PromptKnown;
import io.warmpath.routing.ReportedCache;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.tokens.template.PromptInput;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the chosen worker will report as cached, or why that is not known. Any thread. */
final class Expectation {
    /** Most prompts of one request that are looked at one by one here. */
    private static final int MOST_PROMPTS = 32;

    /** Who of these holds how much of one of several prompts. */
    interface Held {
        List<PrefixMatch> of(
                InferenceRequest request, List<Candidate> candidates, EnginePrompts one);
    }

    private final Held held;
    private final EventWatch events;
    private final boolean asksIndex;
    private final boolean asksPools;

    /**
     * @param asksIndex somebody knows who holds what
     * @param asksPools so do shared pools, of single prompts
     */
    Expectation(Held held, EventWatch events, boolean asksIndex, boolean asksPools) {
        this.held = held;
        this.events = events;
        this.asksIndex = asksIndex;
        this.asksPools = asksPools;
    }

    /** The same decision where nothing is to be said. */
    RoutingDecision of(InferenceRequest request, AskedPrompt prompt, RoutingDecision decision) {
        EnginePrompts tokens = prompt.tokens();
        int cached = decision.chosen().cachedTokens();
        NotExact why =
                tokens == null || tokens.known() == PromptKnown.LENGTH
                        ? unknown(request, prompt)
                        : unmatched(tokens, decision);
        if (why == null) {
            why = request.form().notExact();
        }
        if (why == null && tokens != null && isMany(request, tokens)) {
            ReportedCache.Report report = report(request, tokens, decision);
            cached = report.cachedTokens();
            why = report.reason();
        }
        if (why == null) {
            why = doubt(request, decision);
        }
        return why == null && cached == decision.chosen().cachedTokens()
                ? decision
                : decision.predicting(cached, why);
    }

    private static NotExact unknown(InferenceRequest request, AskedPrompt prompt) {
        NotExact own = request.form().notExact();
        return own == null ? prompt.whyUnknown() : own;
    }

    private @Nullable NotExact unmatched(EnginePrompts tokens, RoutingDecision decision) {
        Candidate to = decision.chosen().candidate();
        if (tokens.isGuess()) {
            return NotExact.TEXT_PREFIX;
        }
        if (tokens.of(to.worker().kind()).length() == 0) {
            return NotExact.TOKENS_UNKNOWN;
        }
        if (!asksIndex) {
            return NotExact.LOAD_ALONE;
        }
        if (decision.drifted()) {
            return NotExact.DRIFTED;
        }
        if (to.worker().blockSize() <= 0) {
            return NotExact.BLOCK_SIZE;
        }
        return decision.request().match(to.worker().blockSize()) == null ? NotExact.NO_MATCH : null;
    }

    /** Several prompts, or several answers, whose count is reported. */
    private static boolean isMany(InferenceRequest request, EnginePrompts tokens) {
        return !request.passThrough() && (tokens.isSeveral() || request.form().answers() > 1);
    }

    private ReportedCache.Report report(
            InferenceRequest request, EnginePrompts tokens, RoutingDecision decision) {
        Candidate to = decision.chosen().candidate();
        int cached = decision.chosen().cachedTokens();
        boolean many = tokens.several().size() > MOST_PROMPTS;
        if (many || (tokens.isSeveral() && asksPools)) {
            return new ReportedCache.Report(cached, NotExact.SEVERAL_PROMPTS);
        }
        int blockSize = to.worker().blockSize();
        List<ReportedCache.Prompt> prompts = new ArrayList<>();
        List<PromptContent> before = new ArrayList<>();
        for (EnginePrompts one : tokens.several()) {
            PromptContent content = one.of(to.worker().kind());
            int common = 0;
            for (PromptContent earlier : before) {
                common = Math.max(common, content.common(earlier, blockSize));
            }
            before.add(content);
            int depth = 0;
            for (PrefixMatch match : held.of(request, List.of(to), one)) {
                if (match.blockSize() == blockSize) {
                    depth = match.depth(to.slot(), Tier.EXTERNAL);
                }
            }
            prompts.add(new ReportedCache.Prompt(content.length(), depth, common));
        }
        if (prompts.isEmpty()) {
            int length = tokens.of(to.worker().kind()).length();
            prompts.add(new ReportedCache.Prompt(length, cached / blockSize, 0));
        }
        return ReportedCache.of(
                to.worker().kind(), request.stream(), request.form().answers(), blockSize, prompts);
    }

    private @Nullable NotExact doubt(InferenceRequest request, RoutingDecision decision) {
        if (decision.chosen().candidate().worker().cache().partlyTold()) {
            return NotExact.PARTLY_TOLD;
        }
        if (request.prompt() instanceof PromptInput.Conversation chat
                && chat.extent()
                        .isBeginning(Engines.of(decision.chosen().candidate().worker().kind()))) {
            return NotExact.MEDIUM;
        }
        Worker to = decision.chosen().candidate().worker();
        return switch (events.view(decision.chosen().candidate())) {
            case EXACT ->
                    to.kind() == EngineKind.TRTLLM
                            ? NotExact.PART_BLOCKS
                            : to.cache().drafts() ? NotExact.DRAFTS : null;
            case OFF, NONE -> NotExact.NO_EVENTS;
            case CONNECTING, LAGGING, GAP, REPAIRING, FROZEN, GONE -> NotExact.EVENTS_BEHIND;
        };
    }
}
