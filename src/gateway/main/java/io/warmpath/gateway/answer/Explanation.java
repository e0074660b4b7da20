package io.warmpath.gateway.answer;

import io.vertx.core.MultiMap;
import io.warmpath.fleet.EventTrust;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.gateway.request.SessionHeaders;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.PinView;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Score;
import io.warmpath.routing.TierBlocks;
import io.warmpath.session.SessionControl;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The decision as response headers. */
public final class Explanation {
    /** What is said of a prompt is said of where it is computed. */
    private static final List<String> OF_PREFILL =
            List.of(
                    "x-warmpath-predicted-cached-tokens",
                    "x-warmpath-not-predicted",
                    "x-warmpath-not-exact",
                    "x-warmpath-matched-blocks",
                    "x-warmpath-events",
                    "x-warmpath-tokens");

    private Explanation() {}

    /** {@code promptTokens}: -1 when the prompt's tokens are not known. */
    public static MultiMap headers(RoutingDecision decision, int promptTokens, PromptInput prompt) {
        Score s = decision.chosen();
        NotExact why = decision.notExact();
        MultiMap h = MultiMap.caseInsensitiveMultiMap();
        h.add("x-warmpath-worker", ascii(s.candidate().label()));
        h.add("x-warmpath-mode", decision.mode().flag());
        if (promptTokens >= 0) {
            h.add("x-warmpath-prompt-tokens", Integer.toString(promptTokens));
            if (why == null || why.predicts()) {
                h.add("x-warmpath-predicted-cached-tokens", Integer.toString(s.cachedTokens()));
            }
            TierBlocks tiers = s.tiers();
            h.add(
                    "x-warmpath-matched-blocks",
                    "gpu="
                            + tiers.gpu()
                            + ";host="
                            + tiers.host()
                            + ";disk="
                            + tiers.disk()
                            + ";external="
                            + tiers.external());
        }
        if (why != null) {
            h.add(
                    why.predicts() ? "x-warmpath-not-exact" : "x-warmpath-not-predicted",
                    words(why, decision, prompt));
        }
        if (decision.request().shared() != null) {
            h.add("x-warmpath-shared-blocks", Integer.toString(decision.sharedBlocks()));
        }
        PinView pins = decision.request().pins();
        if (pins != null) {
            h.add("x-warmpath-pinned-blocks", Integer.toString(pins.blocks(s.candidate())));
        }
        long queued = decision.request().circumstances().queuedNanos();
        if (queued > 0) {
            h.add("x-warmpath-queued-ms", String.format(Locale.ROOT, "%.3f", queued / 1e6));
        }
        EventTrust events = decision.events();
        if (events != null) {
            h.add("x-warmpath-events", events.view().word());
        }
        String tokens = decision.drifted() ? "drifted" : prompt(decision);
        if (!tokens.isEmpty()) {
            h.add("x-warmpath-tokens", tokens);
        }
        h.add("x-warmpath-cost", String.format(Locale.ROOT, "%.3f", s.cost()));
        h.add("x-warmpath-cost-model", decision.options().shownCost().flag());
        h.add("x-warmpath-reason", ascii(decision.reason()));
        return h;
    }

    /** Who computes the prompt, where that is another worker than the one that answers. */
    public static void addPrefill(
            MultiMap to, RoutingDecision prefill, int promptTokens, PromptInput prompt) {
        Score s = prefill.chosen();
        to.add("x-warmpath-prefill-worker", ascii(s.candidate().label()));
        to.add("x-warmpath-prefill-cost", String.format(Locale.ROOT, "%.3f", s.cost()));
        to.add("x-warmpath-prefill-reason", ascii(prefill.reason()));
        MultiMap whole = headers(prefill, promptTokens, prompt);
        for (String name : OF_PREFILL) {
            String there = whole.get(name);
            if (there == null) {
                to.remove(name);
            } else {
                to.set(name, there);
            }
        }
    }

    /** Of a prompt that is known up to some place only, why it ends there. */
    private static String words(NotExact why, RoutingDecision decision, PromptInput prompt) {
        String beginning =
                why == NotExact.MEDIUM && prompt instanceof PromptInput.Conversation chat
                        ? chat.extent()
                                .whyBeginning(
                                        Engines.of(decision.chosen().candidate().worker().kind()))
                        : "";
        return beginning.isEmpty() ? why.words() : beginning;
    }

    private static String prompt(RoutingDecision decision) {
        return decision.request().circumstances().prompt().word();
    }

    /**
     * What the client said beside the prompt, where it said something.
     *
     * @param sessionSeconds idle time after which its session ends, where there is one
     */
    public static void addHints(
            MultiMap to,
            InferenceRequest request,
            OptionalInt enginePriority,
            OptionalInt sessionSeconds) {
        RequestHints hints = request.hints();
        String parent = SessionHeaders.parent(request);
        if (hints.equals(RequestHints.NONE) && parent.isEmpty()) {
            return;
        }
        StringBuilder b = new StringBuilder(64);
        b.append("priority=").append(hints.priority());
        b.append(";strict=").append(hints.strictPriority());
        b.append(";osl=").append(hints.expectedOutput());
        if (hints.enginePriority() != null) {
            b.append(";engine=");
            b.append(
                    enginePriority.isPresent()
                            ? Integer.toString(enginePriority.getAsInt())
                            : "not-taken");
        } else if (hints.priority() != 0) {
            b.append(";sensitivity=").append(hints.priority());
        }
        if (!hints.policyClass().isEmpty()) {
            b.append(";class=").append(hints.policyClass());
        }
        if (hints.speculativePrefill()) {
            b.append(";speculative-prefill=1");
        }
        if (hints.greedy()) {
            b.append(";greedy=1");
        }
        SessionControl session = hints.session();
        if (session != null) {
            b.append(";session-control=");
            b.append(session.action().name().toLowerCase(Locale.ROOT));
            // What a further turn says of the time does not count: the session has had one before.
            b.append(':');
            b.append(sessionSeconds.isPresent() ? sessionSeconds.getAsInt() + "s" : "-");
            b.append(':').append(session.id());
        }
        if (hints.pin() != null) {
            b.append(";cache-control=").append(hints.pin().ttlSeconds()).append('s');
        }
        if (!parent.isEmpty()) {
            b.append(";parent=").append(parent);
        }
        to.add("x-warmpath-hints", ascii(b.toString()));
    }

    /** {@code word}: what became of its session, null when it has none. */
    public static void addSession(MultiMap to, @Nullable String word) {
        if (word != null) {
            to.add("x-warmpath-session", word);
        }
    }

    /** Worker names come from configuration; a header value may hold printable ASCII only. */
    private static String ascii(String text) {
        StringBuilder b = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            b.append(c >= ' ' && c < 0x7f ? c : '?');
        }
        return b.toString();
    }
}
