package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.session.RankSessions;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's {@code /open_session} and {@code /close_session}: both reach every rank, and each rank
 * remembers only the turns that it has served itself. Engine's thread only.
 */
final class SessionApi {
    private final List<RankSessions> ranks;
    private final AgentFeatures features;
    private final RandomGenerator ids;

    SessionApi(List<Rank> ranks, AgentFeatures features, RandomGenerator ids) {
        this.ranks = ranks.stream().map(Rank::sessions).toList();
        this.features = features;
        this.ids = ids;
    }

    /** Answers with the id as a JSON string, or 400. */
    void open(SimExchange exchange) {
        try {
            JsonNode body = PromptIds.read(exchange);
            if (CompletionRequest.integer(body, "capacity_of_str_len", null) == null) {
                throw new Malformed("capacity_of_str_len must be given, as an integer.");
            }
            boolean streaming = CompletionRequest.flag(body, "streaming");
            if (streaming && !features.streamingSessions()) {
                throw new Malformed(
                        "Streaming sessions are disabled. Please relaunch with"
                                + " --enable-streaming-session.");
            }
            Long timeout = timeoutNanos(body);
            String asked = CompletionRequest.optional(body, "session_id");
            String id = asked == null ? fresh() : asked;
            if (ranks.stream().anyMatch(r -> r.isOpen(id))) {
                throw new Malformed(
                        "Failed to open the session. One possible cause is that the session with"
                                + " the same id is still open.");
            }
            for (RankSessions rank : ranks) {
                rank.open(id, streaming, timeout);
            }
            exchange.json(200, AnswerShape.quoted(id));
        } catch (Malformed e) {
            refuse(exchange, e);
        }
    }

    /** Answers 200, whether there was such a session or not. */
    void close(SimExchange exchange) {
        try {
            String id = CompletionRequest.optional(PromptIds.read(exchange), "session_id");
            if (id == null) {
                throw new Malformed("session_id must be given.");
            }
            ranks.forEach(r -> r.close(id));
            exchange.respond(200, "text/plain", "", Map.of());
        } catch (Malformed e) {
            refuse(exchange, e);
        }
    }

    private static @Nullable Long timeoutNanos(JsonNode body) throws Malformed {
        JsonNode timeout = body.path("timeout");
        if (timeout.isMissingNode() || timeout.isNull()) {
            return null;
        }
        if (!timeout.isNumber()) {
            throw new Malformed("timeout must be a number of seconds.");
        }
        return (long) (timeout.doubleValue() * 1e9);
    }

    private String fresh() {
        byte[] id = new byte[16];
        ids.nextBytes(id);
        return HexFormat.of().formatHex(id);
    }

    private static void refuse(SimExchange exchange, Malformed why) {
        exchange.json(400, "{\"error\":{\"message\":" + AnswerShape.quoted(why.text()) + "}}");
    }
}
