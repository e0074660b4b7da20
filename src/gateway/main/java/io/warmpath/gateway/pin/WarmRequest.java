package io.warmpath.gateway.pin;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.upstream.UpstreamRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request whose answer is not read: token ids to one rank, for one token, at the lowest priority.
 *
 * @param model as that worker calls it
 * @param salt cache salt, empty when there is none
 * @param authorization the client's; null: none
 * @param more members of the body, each with a comma before it
 */
public record WarmRequest(
        String requestId,
        Candidate to,
        String model,
        String salt,
        @Nullable String authorization,
        int[] ids,
        String more) {
    private static final String TARGET = "/v1/completions";

    public UpstreamRequest upstream() {
        MultiMap extra = MultiMap.caseInsensitiveMultiMap();
        extra.add("content-type", "application/json");
        extra.add("x-request-id", requestId);
        if (authorization != null) {
            extra.add("authorization", authorization);
        }
        boolean ranks = to.worker().ranks().size() > 1;
        if (ranks && to.worker().kind() == EngineKind.VLLM) {
            extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
        }
        return new UpstreamRequest(
                to.worker().name(),
                to.worker().url(),
                TARGET,
                MultiMap.caseInsensitiveMultiMap(),
                extra,
                body(ranks && to.worker().kind() == EngineKind.SGLANG),
                false,
                true,
                List.of());
    }

    private Buffer body(boolean withRank) {
        StringBuilder b = new StringBuilder(128 + 6 * ids.length);
        b.append("{\"model\":").append(GatewayJson.quoted(model));
        b.append(",\"prompt\":");
        GatewayJson.array(ids, b);
        b.append(",\"max_tokens\":1,\"temperature\":0,\"stream\":false");
        if (!salt.isEmpty()) {
            b.append(",\"cache_salt\":").append(GatewayJson.quoted(salt));
        }
        if (withRank) {
            b.append(",\"routed_dp_rank\":").append(to.dpRank());
        }
        to.worker()
                .priorities()
                .of(Integer.MIN_VALUE)
                .ifPresent(p -> b.append(",\"priority\":").append(p));
        return Buffer.buffer(b.append(more).append('}').toString());
    }
}
