package io.warmpath.sim;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** vLLM 0.32.0's answers. Stateless. */
final class VllmAnswers implements AnswerShape {
    private static final String FINGERPRINT = "\"system_fingerprint\":\"vllm-0.32.0-sim\"";

    @Override
    public String role(Head head) {
        return AnswerShape.opening(head, AnswerShape.chunkObject(head))
                + "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                + "\"logprobs\":null,\"finish_reason\":null}],\"prompt_token_ids\":"
                + ids(head.promptIds())
                + ",\"prompt_text\":null}";
    }

    @Override
    public String token(
            Head head, String text, int token, Stops.@Nullable Ending ending, boolean first) {
        boolean wantIds = head.promptIds() != null;
        String ids = wantIds ? "[" + token + "]" : "null";
        String opening = AnswerShape.opening(head, AnswerShape.chunkObject(head));
        String reason = ending == null ? "null" : ending.finish().json();
        if (head.chat()) {
            return opening
                    + "{\"index\":0,\"delta\":{\"content\":"
                    + AnswerShape.quoted(text)
                    + "},\"logprobs\":null,\"finish_reason\":"
                    + reason
                    + (ending == null ? "" : ",\"stop_reason\":" + stopReason(ending))
                    + ",\"token_ids\":"
                    + ids
                    + "}]}";
        }
        return opening
                + "{\"index\":0,\"text\":"
                + AnswerShape.quoted(text)
                + ",\"logprobs\":null,\"finish_reason\":"
                + reason
                + ",\"stop_reason\":"
                + stopReason(ending)
                + ",\"prompt_token_ids\":"
                + ids(first ? head.promptIds() : null)
                + ",\"token_ids\":"
                + ids
                + "}]}";
    }

    @Override
    public @Nullable String end(Head head, Stops.Ending ending) {
        return null;
    }

    @Override
    public String usage(Head head, Usage usage) {
        return """
                %s],"usage":%s,"prompt_tokens_details":{"cached_tokens":%s%s%s}"""
                .formatted(
                        AnswerShape.opening(head, AnswerShape.chunkObject(head)),
                        counts(usage),
                        usage.cached(),
                        head.chat() ? ",\"created_cache_tokens\":0}}," : "}},",
                        FINGERPRINT);
    }

    @Override
    public String whole(Head head, String text, int[] tokens, Stops.Ending ending, Usage usage) {
        String tokenIds = ids(head.promptIds() == null ? null : tokens);
        String usageJson =
                """
                        %s,"prompt_tokens_details":{"cached_tokens":%s,\
                        "created_cache_tokens":0,"multimodal_tokens":null},\
                        "completion_tokens_details":null}"""
                        .formatted(counts(usage), usage.cached());
        if (head.chat()) {
            return """
                    %s{"index":0,"message":{"role":"assistant","content":%s,\
                    "refusal":null,"annotations":null,"audio":null,\
                    "function_call":null,"reasoning":null},"logprobs":null,\
                    "finish_reason":%s,"stop_reason":%s,"token_ids":%s,\
                    "routed_experts":null}],"service_tier":null,%s,"usage":%s,\
                    "prompt_logprobs":null,"prompt_token_ids":%s,"prompt_text":null,\
                    "kv_transfer_params":null,"ec_transfer_params":null,\
                    "metrics":null}"""
                    .formatted(
                            AnswerShape.opening(head, "chat.completion"),
                            AnswerShape.quoted(text),
                            ending.finish().json(),
                            stopReason(ending),
                            tokenIds,
                            FINGERPRINT,
                            usageJson,
                            ids(head.promptIds()));
        }
        return """
                %s{"index":0,"text":%s,"logprobs":null,"finish_reason":%s,\
                "stop_reason":%s,"token_ids":%s,"prompt_logprobs":null,\
                "prompt_token_ids":%s}],"service_tier":null,%s,"usage":%s,\
                "kv_transfer_params":null}"""
                .formatted(
                        AnswerShape.opening(head, "text_completion"),
                        AnswerShape.quoted(text),
                        ending.finish().json(),
                        stopReason(ending),
                        tokenIds,
                        ids(head.promptIds()),
                        FINGERPRINT,
                        usageJson);
    }

    @Override
    public String error(int status, String type, String message, @Nullable String param) {
        return "{\"error\":{" + AnswerShape.errorMembers(status, type, message, param) + "}}";
    }

    @Override
    public String partJoint() {
        return "\n";
    }

    @Override
    public String idPrefix(boolean chat) {
        return chat ? "chatcmpl-" : "cmpl-";
    }

    /** Null also at the model's own end. */
    private static String stopReason(Stops.@Nullable Ending ending) {
        return ending != null && ending.asked() ? String.valueOf(ending.matched()) : "null";
    }

    private static String counts(Usage usage) {
        return """
                {"prompt_tokens":%s,"total_tokens":%s,"completion_tokens":%s"""
                .formatted(usage.prompt(), usage.prompt() + usage.completion(), usage.completion());
    }

    private static String ids(int @Nullable [] tokens) {
        return tokens == null
                ? "null"
                : Arrays.stream(tokens)
                        .mapToObj(Integer::toUnsignedString)
                        .collect(Collectors.joining(",", "[", "]"));
    }
}
