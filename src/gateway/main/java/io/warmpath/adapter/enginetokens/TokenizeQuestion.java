package io.warmpath.adapter.enginetokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import java.util.List;
import java.util.Optional;

/**
 * A client's request as each kind of engine takes it at {@code /tokenize}. Stateless. vLLM knows
 * neither {@code documents} nor {@code reasoning_effort} there, but hands template arguments on as
 * it does those two of a chat. SGLang takes messages since it has {@code continue_final_message}
 * there; releases before answer that a prompt is missing.
 */
final class TokenizeQuestion {
    private static final List<String> VLLM_CHAT =
            List.of("messages", "tools", "add_generation_prompt", "continue_final_message");

    private static final List<String> SGLANG_CHAT =
            List.of(
                    "messages",
                    "tools",
                    "tool_choice",
                    "reasoning_effort",
                    "continue_final_message",
                    "chat_template_kwargs");

    private static final List<String> TEMPLATE_ARGUMENTS = List.of("documents", "reasoning_effort");

    private TokenizeQuestion() {}

    /**
     * @return empty when such an engine cannot be asked about this prompt
     */
    static Optional<String> of(EngineKind kind, String model, JsonNode request) {
        if (kind.isPlain()) {
            return Optional.empty();
        }
        ObjectNode question = JsonNodeFactory.instance.objectNode();
        question.put("model", model);
        JsonNode messages = request.path("messages");
        if (messages.isArray()) {
            if (hasMedia(messages)) {
                return Optional.empty(); // their places have ids that say nothing of their content
            }
            copy(kind == EngineKind.VLLM ? VLLM_CHAT : SGLANG_CHAT, request, question);
            if (kind == EngineKind.VLLM) {
                templateArguments(request, question);
            }
            return Optional.of(question.toString());
        }
        JsonNode prompt = request.path("prompt");
        if (prompt.isArray() && prompt.size() == 1) {
            prompt = prompt.path(0);
        }
        if (!prompt.isTextual()) {
            return Optional.empty();
        }
        question.set("prompt", prompt);
        return Optional.of(question.toString());
    }

    private static void copy(List<String> names, JsonNode from, ObjectNode to) {
        for (String name : names) {
            JsonNode value = from.path(name);
            if (!value.isMissingNode() && !value.isNull()) {
                to.set(name, value);
            }
        }
    }

    private static void templateArguments(JsonNode request, ObjectNode question) {
        ObjectNode arguments = JsonNodeFactory.instance.objectNode();
        JsonNode given = request.path("chat_template_kwargs");
        if (given instanceof ObjectNode object) {
            arguments.setAll(object);
        }
        copy(TEMPLATE_ARGUMENTS, request, arguments);
        if (!arguments.isEmpty()) {
            question.set("chat_template_kwargs", arguments);
        }
    }

    private static boolean hasMedia(JsonNode messages) {
        for (JsonNode message : messages) {
            JsonNode content = message.path("content");
            if (content.isArray()) {
                for (JsonNode part : content) {
                    if (!part.path("text").isTextual()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
