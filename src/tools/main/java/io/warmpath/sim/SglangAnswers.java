package io.warmpath.sim;

import org.jspecify.annotations.Nullable;

/** SGLang 0.5.23's answers. Stateless. */
final class SglangAnswers implements AnswerShape {
    @Override
    public String role(Head head) {
        return AnswerShape.opening(head, AnswerShape.chunkObject(head))
                + "{\"index\":0,\"delta\":{\"reasoning_content\":null,\"role\":\"assistant\","
                + "\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null,"
                + "\"matched_stop\":null}]}";
    }

    @Override
    public String token(
            Head head, String text, int token, Stops.@Nullable Ending ending, boolean first) {
        String opening = AnswerShape.opening(head, AnswerShape.chunkObject(head));
        if (head.chat()) {
            return opening
                    + "{\"index\":0,\"delta\":{\"reasoning_content\":null,\"content\":"
                    + AnswerShape.quoted(text)
                    + "},\"logprobs\":null,\"finish_reason\":null,\"matched_stop\":null}]}";
        }
        return opening
                + "{\"index\":0,\"text\":"
                + AnswerShape.quoted(text)
                + ",\"logprobs\":null,\"finish_reason\":"
                + (ending == null ? "null" : ending.finish().json())
                + ",\"matched_stop\":"
                + matched(ending)
                + "}],\"usage\":null}";
    }

    @Override
    public @Nullable String end(Head head, Stops.Ending ending) {
        if (!head.chat()) {
            return null;
        }
        return """
                %s{"index":0,"delta":{"reasoning_content":null},"logprobs":null,\
                "finish_reason":%s,"matched_stop":%s}]}"""
                .formatted(
                        AnswerShape.opening(head, AnswerShape.chunkObject(head)),
                        ending.finish().json(),
                        matched(ending));
    }

    @Override
    public String usage(Head head, Usage usage) {
        return AnswerShape.opening(head, AnswerShape.chunkObject(head))
                + "],\"usage\":"
                + usageJson(usage, head.chat())
                + "}";
    }

    @Override
    public String whole(Head head, String text, int[] tokens, Stops.Ending ending, Usage usage) {
        String choice =
                head.chat()
                        ? "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                                + AnswerShape.quoted(text)
                                + ",\"reasoning_content\":null}"
                        : "{\"index\":0,\"text\":" + AnswerShape.quoted(text);
        return AnswerShape.opening(head, head.chat() ? "chat.completion" : "text_completion")
                + choice
                + ",\"logprobs\":null,\"finish_reason\":"
                + ending.finish().json()
                + ",\"matched_stop\":"
                + matched(ending)
                + "}],\"usage\":"
                + usageJson(usage, head.chat())
                + ",\"metadata\":{\"weight_version\":\"default\",\"weight_versions\":"
                + "[{\"version\":\"default\",\"start\":0,\"end\":"
                + usage.completion()
                + "}]}}";
    }

    @Override
    public String error(int status, String type, String message, @Nullable String param) {
        return "{\"object\":\"error\","
                + AnswerShape.errorMembers(status, type, message, param)
                + "}";
    }

    @Override
    public String partJoint() {
        return " ";
    }

    @Override
    public String idPrefix(boolean chat) {
        return "";
    }

    private static String matched(Stops.@Nullable Ending ending) {
        return ending == null ? "null" : String.valueOf(ending.matched());
    }

    private static String usageJson(Usage usage, boolean chat) {
        return """
                {"prompt_tokens":%s,"total_tokens":%s,"completion_tokens":%s,\
                "prompt_tokens_details":{"cached_tokens":%s},"reasoning_tokens":0%s"""
                .formatted(
                        usage.prompt(),
                        usage.prompt() + usage.completion(),
                        usage.completion(),
                        usage.cached(),
                        chat ? ",\"completion_tokens_details\":null}" : "}");
    }
}
