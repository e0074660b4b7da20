package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.http.SimExchange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /hicache/pin_prefix}, which builds of SGLang from February to April 2026 have: each
 * rank pins what it has of the prompt. Engine's thread only.
 */
final class PinApi {
    private static final int DEFAULT_TTL_SECONDS = 300;

    private final SimOptions options;
    private final List<Rank> ranks;

    PinApi(SimOptions options, List<Rank> ranks) {
        this.options = options;
        this.ranks = ranks;
    }

    /** False when this build has no such route. */
    boolean answer(SimExchange exchange) {
        if (options.agents().maxPinnedRatio() == null) {
            return false;
        }
        try {
            JsonNode body = PromptIds.read(exchange);
            int[] ids = CompletionRequest.ids(body.path("token_ids"), "token_ids");
            Integer ttl = CompletionRequest.integer(body, "ttl_seconds", DEFAULT_TTL_SECONDS);
            if (ids.length == 0 || ttl == null || ttl < 1) {
                throw new Malformed("token_ids and a ttl_seconds of at least 1 must be given.");
            }
            String salt = CompletionRequest.optional(body, "cache_salt");
            if (options.hostBlocks() == 0) {
                said(exchange, 0, "PIN requires --enable-hierarchical-cache");
                return true;
            }
            int pinned = 0;
            String rejected = null;
            for (Rank rank : ranks) {
                KvCache.Pinned got =
                        rank.pin(ids, new CacheSpace(salt, null), ttl * 1_000_000_000L);
                pinned += got.blocks();
                rejected = rejected == null ? got.rejected() : rejected;
            }
            said(exchange, pinned, rejected);
        } catch (Malformed e) {
            exchange.json(400, "{\"error\":{\"message\":" + AnswerShape.quoted(e.text()) + "}}");
        }
        return true;
    }

    /** A route that is there answers every other method so; false when it is not. */
    boolean wrongMethod(SimExchange exchange) {
        if (options.agents().maxPinnedRatio() == null) {
            return false;
        }
        exchange.json(405, "{\"detail\":\"Method Not Allowed\"}");
        return true;
    }

    private static void said(SimExchange exchange, int pinned, @Nullable String rejected) {
        String message =
                pinned == 0
                        ? (rejected == null ? "No matching prefix found in cache to pin" : rejected)
                        : rejected == null
                                ? "Pinned " + pinned + " nodes"
                                : "prefix partially pinned; " + rejected;
        exchange.json(
                pinned == 0 ? 400 : 200,
                """
                        {"status":%s,"nodes_pinned":%s,"message":%s}"""
                        .formatted(
                                pinned == 0 ? "\"error\"" : "\"ok\"",
                                pinned,
                                AnswerShape.quoted(message)));
    }
}
