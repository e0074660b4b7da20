package io.warmpath.api.hints;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.gateway.request.NvextField;
import io.warmpath.gateway.request.RequestHints;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/**
 * What {@code nvext} says of sampling and of the answer, and what it may say without effect here
 * (listed in {@code src/docs/how-to/agents.md}): that is checked as well, so that a client learns
 * of a mistake from whichever gateway it meets first. One per request, one thread.
 */
public final class ExtrasReader {
    /** Ahead of a value that only its sender understands. */
    private static final String QUERY = "query_instance_id:";

    private Set<NvextField> extras = Set.of();
    private boolean greedy;

    boolean greedy() {
        return greedy;
    }

    Set<NvextField> extras() {
        return extras;
    }

    /**
     * A member of {@code nvext}, not null and not read elsewhere; the current token is its value.
     */
    void read(String name, String at, JsonParser json) throws IOException {
        switch (name) {
            case "annotations" -> NvextValues.texts(at, json, this::annotation);
            case "extra_fields" -> NvextValues.texts(at, json, this::field);
            case "greed_sampling" -> greedy = NvextValues.flag(at, json);
            case "use_raw_prompt" -> NvextValues.flag(at, json);
            case "max_thinking_tokens" -> NvextValues.u32(at, json);
            case "request_timestamp_ms" -> NvextValues.number(at, json);
            case "metadata_upload" -> upload(at, json);
            default -> json.skipChildren();
        }
    }

    private void annotation(String name) {
        switch (name) {
            case "worker_id" -> add(NvextField.WORKER_ID_EVENT);
            case "formatted_prompt" -> add(NvextField.FORMATTED_PROMPT_EVENT);
            case "token_ids" -> add(NvextField.TOKEN_IDS_EVENT);
            case "llm_metrics" -> add(NvextField.LLM_METRICS_EVENT);
            default -> {
                if (name.startsWith(QUERY)) {
                    add(NvextField.QUERY_ONLY);
                }
            }
        }
    }

    private void field(String name) {
        switch (name) {
            case "worker_id" -> add(NvextField.WORKER_ID);
            case "timing" -> add(NvextField.TIMING);
            case "token_ids" -> add(NvextField.TOKEN_IDS);
            default -> {} // an engine's, or nobody's
        }
    }

    private void add(NvextField extra) {
        if (extras.isEmpty()) {
            extras = EnumSet.of(extra); // rarely asked for
        }
        extras.add(extra);
    }

    /**
     * For APIs that have no answer to such a question: it would be run instead.
     *
     * @throws io.warmpath.fault.GatewayException BadRequest, when there is one
     */
    public static void refuseQuery(RequestHints hints) {
        if (hints.extras().contains(NvextField.QUERY_ONLY)) {
            throw InvalidRequest.bad(
                    "nvext.annotations",
                    "`"
                            + QUERY
                            + "` is answered by /v1/chat/completions and /v1/completions only.");
        }
    }

    private static void upload(String at, JsonParser json) throws IOException {
        NvextValues.object(at, json);
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            if (json.nextToken() != JsonToken.VALUE_NULL && name.equals("url")) {
                NvextValues.text(at + ".url", json);
            } else {
                json.skipChildren();
            }
        }
    }
}
