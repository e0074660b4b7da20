package io.warmpath.api.inference;

import io.warmpath.api.json.DecisionJson;
import io.warmpath.api.json.EventBytes;
import io.warmpath.api.json.JsonTree;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.StreamMove;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.routing.RoutingDecision;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one answer says beside itself: the {@code nvext} of its last chunk or of its body, and
 * events of their own in a stream. Its names and values are those of Dynamo's frontend. Such an
 * event has a name and its value in a comment, as there; and a chunk without choices as its data,
 * as clients of OpenAI read every event's data. On the request's event loop.
 */
final class NvextNote {
    private static final byte[] NOTHING = {};

    /** What asks for nothing but an explanation. */
    private final Set<NvextField> asked;

    private final PromptNote prompt;
    private final Map<String, @Nullable Object> chunk = new LinkedHashMap<>();
    private final long receivedMillis;
    private final List<StreamMove> moves = new ArrayList<>(0);
    private @Nullable RoutingDecision routing;
    private @Nullable Supplier<AnswerFacts> facts;

    /** {@code receivedMillis}: of the clock. */
    NvextNote(InferenceRequest request, boolean chat, PromptNote prompt, long receivedMillis) {
        this.asked = request.hints().extras();
        this.prompt = prompt;
        this.receivedMillis = receivedMillis;
        chunk.put("id", request.requestId());
        chunk.put("object", chat ? "chat.completion.chunk" : "text_completion");
        chunk.put("created", receivedMillis / 1000);
        chunk.put("model", request.name().asked());
        chunk.put("choices", List.of());
    }

    void explain(RoutingDecision decision) {
        routing = decision;
    }

    void moved(StreamMove move) {
        moves.add(move);
    }

    void facts(Supplier<AnswerFacts> now) {
        facts = now;
    }

    /** There is something to say of an answer like this one. */
    boolean isWanted() {
        return routing != null || facts != null;
    }

    /** {@code "nvext":{...}}, as things are now; empty when there is nothing in it. */
    byte[] member() {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        Supplier<AnswerFacts> now = facts;
        if (now != null) {
            AnswerFacts f = now.get();
            if (asked.contains(NvextField.WORKER_ID)) {
                members.put("worker_id", workers(f));
            }
            if (asked.contains(NvextField.TIMING)) {
                members.put("timing", timing(f));
            }
            if (asked.contains(NvextField.TOKEN_IDS) && prompt.ids() != null) {
                members.put("token_ids", ids(prompt.ids()));
            }
        }
        if (routing != null) {
            members.put("routing", new JsonTree.Raw(DecisionJson.of(routing, moves)));
        }
        return members.isEmpty()
                ? NOTHING
                : EventBytes.joined(EventBytes.utf8("\"nvext\":"), JsonTree.bytes(members));
    }

    /** The events in front of a stream. */
    byte[] first() {
        Supplier<AnswerFacts> now = facts;
        if (now == null) {
            return NOTHING;
        }
        byte[] out = NOTHING;
        if (asked.contains(NvextField.FORMATTED_PROMPT_EVENT) && prompt.text() != null) {
            out = EventBytes.joined(out, event("formatted_prompt", prompt.text()));
        }
        if (asked.contains(NvextField.TOKEN_IDS_EVENT) && prompt.ids() != null) {
            out = EventBytes.joined(out, event("token_ids", ids(prompt.ids())));
        }
        if (asked.contains(NvextField.WORKER_ID_EVENT)) {
            AnswerFacts f = now.get();
            out = EventBytes.joined(out, event("worker_id", workers(f)));
        }
        return out;
    }

    /** The events behind a stream's last chunk. */
    byte[] last() {
        Supplier<AnswerFacts> now = facts;
        if (now == null || !asked.contains(NvextField.LLM_METRICS_EVENT)) {
            return NOTHING;
        }
        AnswerFacts f = now.get();
        Map<String, @Nullable Object> metrics = new LinkedHashMap<>();
        known(metrics, "input_tokens", f.promptTokens());
        known(metrics, "output_tokens", f.outputTokens());
        known(metrics, "cached_tokens", f.cachedTokens());
        return event("llm_metrics", metrics);
    }

    /** The whole answer to who only wants to know who would answer. */
    byte[] query(long worker, int dpRank, boolean stream) {
        Map<String, @Nullable Object> nvext = new LinkedHashMap<>();
        nvext.put("worker_id", workers(worker, dpRank, worker, dpRank));
        if (prompt.ids() != null) {
            nvext.put("token_ids", ids(prompt.ids()));
        }
        if (routing != null) {
            nvext.put("routing", new JsonTree.Raw(DecisionJson.of(routing, moves)));
        }
        Map<String, @Nullable Object> answer = new LinkedHashMap<>(chunk);
        if (!stream) {
            answer.computeIfPresent("object", (k, o) -> String.valueOf(o).replace(".chunk", ""));
        }
        answer.put("nvext", nvext);
        byte[] json = JsonTree.bytes(answer);
        return stream
                ? EventBytes.joined(
                        EventBytes.utf8("data: "), json, EventBytes.utf8("\n\ndata: [DONE]\n\n"))
                : json;
    }

    private byte[] event(String name, Object value) {
        byte[] json = JsonTree.bytes(value);
        Map<String, @Nullable Object> data = new LinkedHashMap<>(chunk);
        data.put("nvext", Map.of(name, value));
        return EventBytes.joined(
                EventBytes.utf8("event: " + name + "\n: "),
                json,
                EventBytes.utf8("\ndata: "),
                JsonTree.bytes(data),
                EventBytes.utf8("\n\n"));
    }

    private static Map<String, @Nullable Object> workers(AnswerFacts f) {
        return workers(f.prefillWorker(), f.prefillRank(), f.worker(), f.dpRank());
    }

    private static Map<String, @Nullable Object> workers(
            long prefill, int prefillRank, long decode, int decodeRank) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("prefill_worker_id", new JsonTree.Raw(Long.toUnsignedString(prefill)));
        members.put("prefill_dp_rank", prefillRank);
        members.put("decode_worker_id", new JsonTree.Raw(Long.toUnsignedString(decode)));
        members.put("decode_dp_rank", decodeRank);
        return members;
    }

    private Map<String, @Nullable Object> timing(AnswerFacts f) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("request_received_ms", receivedMillis);
        members.put("prefill_wait_time_ms", millis(f.sentNanos()));
        if (f.firstTokenNanos() >= 0) {
            members.put("prefill_time_ms", millis(f.firstTokenNanos() - f.sentNanos()));
            members.put("ttft_ms", millis(f.firstTokenNanos()));
            if (f.outputTokens() > 1) {
                long between = f.nanos() - f.firstTokenNanos();
                members.put("itl_ms", millis(between / (f.outputTokens() - 1)));
            }
        }
        members.put("total_time_ms", millis(f.nanos()));
        if (f.promptTokens() > 0 && f.cachedTokens() >= 0) {
            members.put(
                    "kv_hit_rate",
                    BigDecimal.valueOf(f.cachedTokens())
                            .divide(BigDecimal.valueOf(f.promptTokens()), 4, RoundingMode.HALF_UP));
        }
        return members;
    }

    private static BigDecimal millis(long nanos) {
        return BigDecimal.valueOf(nanos, 6).setScale(3, RoundingMode.HALF_UP);
    }

    private static void known(Map<String, @Nullable Object> to, String name, long value) {
        if (value >= 0) {
            to.put(name, value);
        }
    }

    private static List<@Nullable Object> ids(int[] ids) {
        List<@Nullable Object> all = new ArrayList<>(ids.length);
        for (int id : ids) {
            all.add(Integer.toUnsignedLong(id));
        }
        return all;
    }
}
