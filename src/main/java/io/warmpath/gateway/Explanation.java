package io.warmpath.gateway;

import io.vertx.core.MultiMap;
import io.warmpath.fleet.EventTrust;
import io.warmpath.routing.PinView;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Score;
import java.util.Locale;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The decision as response headers. */
final class Explanation {
    private Explanation() {}

    /**
     * @param promptTokens -1 when the prompt's tokens are not known
     */
    static MultiMap headers(RoutingDecision decision, int promptTokens) {
        Score s = decision.chosen();
        MultiMap h = MultiMap.caseInsensitiveMultiMap();
        h.add("x-warmpath-worker", ascii(s.candidate().label()));
        h.add("x-warmpath-mode", decision.mode().flag());
        if (promptTokens >= 0) {
            h.add("x-warmpath-prompt-tokens", Integer.toString(promptTokens));
            h.add("x-warmpath-predicted-cached-tokens", Integer.toString(s.cachedTokens()));
            h.add(
                    "x-warmpath-matched-blocks",
                    "gpu="
                            + s.gpuBlocks()
                            + ";host="
                            + s.hostBlocks()
                            + ";disk="
                            + s.diskBlocks()
                            + ";external="
                            + s.externalBlocks());
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
        if (decision.drifted()) {
            h.add("x-warmpath-tokens", "drifted");
        }
        h.add("x-warmpath-cost", String.format(Locale.ROOT, "%.3f", s.cost()));
        h.add("x-warmpath-reason", ascii(decision.reason()));
        return h;
    }

    /** What the client said of urgency and size, where it said something. */
    static void addHints(MultiMap to, RequestHints hints, OptionalInt enginePriority) {
        if (hints.equals(RequestHints.NONE)) {
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
        }
        to.add("x-warmpath-hints", b.toString());
    }

    /**
     * @param word what became of its session, null when it has none
     */
    static void addSession(MultiMap to, @Nullable String word) {
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
