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
        return AnswerShape.opening(head, AnswerShape.chunkObject(head))
                + "],\"usage\":"
                + counts(usage)
                + ",\"prompt_tokens_details\":{\"cached_tokens\":"
                + usage.cached()
                + (head.chat() ? ",\"created_cache_tokens\":0}}," : "}},")
                + FINGERPRINT
                + "}";
    }

    @Override
    public String whole(Head head, String text, int[] tokens, Stops.Ending ending, Usage usage) {
        String tokenIds = ids(head.promptIds() == null ? null : tokens);
        String usageJson =
                counts(usage)
                        + ",\"prompt_tokens_details\":{\"cached_tokens\":"
                        + usage.cached()
                        + ",\"created_cache_tokens\":0,\"multimodal_tokens\":null},"
                        + "\"completion_tokens_details\":null}";
        if (head.chat()) {
            return AnswerShape.opening(head, "chat.completion")
                    + "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                    + AnswerShape.quoted(text)
                    + ",\"refusal\":null,\"annotations\":null,\"audio\":null,"
                    + "\"function_call\":null,\"reasoning\":null},\"logprobs\":null,"
                    + "\"finish_reason\":"
                    + ending.finish().json()
                    + ",\"stop_reason\":"
                    + stopReason(ending)
                    + ",\"token_ids\":"
                    + tokenIds
                    + ",\"routed_experts\":null}],\"service_tier\":null,"
                    + FINGERPRINT
                    + ",\"usage\":"
                    + usageJson
                    + ",\"prompt_logprobs\":null,\"prompt_token_ids\":"
                    + ids(head.promptIds())
                    + ",\"prompt_text\":null,\"kv_transfer_params\":null,"
                    + "\"ec_transfer_params\":null,\"metrics\":null}";
        }
        return AnswerShape.opening(head, "text_completion")
                + "{\"index\":0,\"text\":"
                + AnswerShape.quoted(text)
                + ",\"logprobs\":null,\"finish_reason\":"
                + ending.finish().json()
                + ",\"stop_reason\":"
                + stopReason(ending)
                + ",\"token_ids\":"
                + tokenIds
                + ",\"prompt_logprobs\":null,\"prompt_token_ids\":"
                + ids(head.promptIds())
                + "}],\"service_tier\":null,"
                + FINGERPRINT
                + ",\"usage\":"
                + usageJson
                + ",\"kv_transfer_params\":null}";
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
        return "{\"prompt_tokens\":"
                + usage.prompt()
                + ",\"total_tokens\":"
                + (usage.prompt() + usage.completion())
                + ",\"completion_tokens\":"
                + usage.completion();
    }

    private static String ids(int @Nullable [] tokens) {
        return tokens == null
                ? "null"
                : Arrays.stream(tokens)
                        .mapToObj(Integer::toUnsignedString)
                        .collect(Collectors.joining(",", "[", "]"));
    }
}
