package io.warmpath.api.direct;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.plan.Advisor;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Score;
import io.warmpath.routing.Scores;
import io.warmpath.routing.TierBlocks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Answers of the direct API, each from one decision in full detail. Stateless. */
final class DirectJson {
    private DirectJson() {}

    static Buffer best(Advisor.Question asked, RoutingDecision decision, boolean tokensKnown) {
        return JsonOutput.object(json -> choice(asked, decision, tokensKnown, json));
    }

    static Buffer reserved(
            String id,
            Duration life,
            Advisor.Question asked,
            RoutingDecision decision,
            boolean tokensKnown) {
        return JsonOutput.object(
                json -> {
                    json.writeStringField("reservation_id", id);
                    json.writeNumberField("ttl_seconds", life.toMillis() / 1000.0);
                    choice(asked, decision, tokensKnown, json);
                });
    }

    private static void choice(
            Advisor.Question asked,
            RoutingDecision decision,
            boolean tokensKnown,
            JsonGenerator json)
            throws IOException {
        Score s = decision.chosen();
        head(asked, decision, tokensKnown, json);
        worker(s.candidate(), json);
        json.writeNumberField("overlap_blocks", s.gpuBlocks());
        tiers(s.tiers(), json);
        json.writeNumberField("cached_tokens", s.cachedTokens());
        json.writeNumberField("cost", s.cost());
        json.writeStringField("mode", decision.mode().flag());
        json.writeStringField("reason", decision.reason());
    }

    static Buffer loads(Advisor.Question asked, RoutingDecision decision, boolean tokensKnown) {
        return JsonOutput.object(
                json -> {
                    head(asked, decision, tokensKnown, json);
                    json.writeArrayFieldStart("loads");
                    Scores all = decision.compared();
                    for (int i = 0; i < all.size(); i++) {
                        Score s = all.list().get(i);
                        double prefill = term(all, i, "active_prefill_tokens");
                        double blocks = term(all, i, "active_blocks");
                        json.writeStartObject();
                        worker(s.candidate(), json);
                        whole("potential_prefill_tokens", prefill + s.prefillTokens(), json);
                        whole("potential_decode_blocks", s.decodeBlocks(), json);
                        whole("active_prefill_tokens", prefill, json);
                        whole("active_blocks", blocks, json);
                        whole("active_requests", term(all, i, "active_requests"), json);
                        json.writeEndObject();
                    }
                    json.writeEndArray();
                });
    }

    static Buffer overlaps(Advisor.Question asked, RoutingDecision decision, boolean tokensKnown) {
        return JsonOutput.object(
                json -> {
                    head(asked, decision, tokensKnown, json);
                    json.writeArrayFieldStart("scores");
                    Scores all = decision.compared();
                    for (int i = 0; i < all.size(); i++) {
                        Score s = all.list().get(i);
                        int size = s.candidate().worker().blockSize();
                        int tokens = decision.request().promptTokens();
                        json.writeStartObject();
                        worker(s.candidate(), json);
                        json.writeNumberField("prompt_blocks", size > 0 ? tokens / size : 0);
                        tiers(s.tiers(), json);
                        whole("shared_blocks", term(all, i, "shared_blocks"), json);
                        json.writeNumberField("cached_tokens", s.cachedTokens());
                        json.writeEndObject();
                    }
                    json.writeEndArray();
                });
    }

    static Buffer explained(Advisor.Question asked, RoutingDecision decision, boolean tokensKnown) {
        return JsonOutput.object(
                json -> {
                    json.writeStringField("model", asked.request().model());
                    json.writeBooleanField("tokens_known", tokensKnown);
                    json.writeFieldName("decision");
                    DecisionJson.write(decision, json);
                });
    }

    private static void head(
            Advisor.Question asked,
            RoutingDecision decision,
            boolean tokensKnown,
            JsonGenerator json)
            throws IOException {
        json.writeStringField("model", asked.request().model());
        if (tokensKnown) {
            json.writeNumberField("prompt_tokens", decision.request().promptTokens());
        } else {
            json.writeNullField("prompt_tokens");
        }
    }

    private static void worker(Candidate c, JsonGenerator json) throws IOException {
        json.writeStringField("worker_id", Long.toUnsignedString(c.worker().id()));
        json.writeStringField("worker", c.worker().name());
        json.writeNumberField("dp_rank", c.dpRank());
        json.writeNumberField("block_size", c.worker().blockSize());
    }

    private static void tiers(TierBlocks tiers, JsonGenerator json) throws IOException {
        json.writeNumberField("gpu_blocks", tiers.gpu());
        json.writeNumberField("host_blocks", tiers.host());
        json.writeNumberField("disk_blocks", tiers.disk());
        json.writeNumberField("external_blocks", tiers.external());
    }

    private static double term(Scores all, int i, String name) {
        List<String> names = all.names();
        return all.terms(i).get(names.indexOf(name));
    }

    /** Blocks and tokens are whole numbers, but where blocks of different size are converted. */
    private static void whole(String name, double value, JsonGenerator json) throws IOException {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            json.writeNumberField(name, (long) value);
        } else {
            json.writeNumberField(name, value);
        }
    }
}
