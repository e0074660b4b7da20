package io.warmpath.wiring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.sim.ChatText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What engines make of chats with tools, written down once more by hand: their changes to messages
 * and the two templates of {@code src/test/resources/models}. Shares nothing with the product.
 *
 * @param sglang else vLLM
 */
record EngineText(Model model, boolean sglang) implements ChatText {
    /** The two templates. */
    enum Model {
        AGENT,
        CALLER
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String of(JsonNode request) {
        ArrayNode tools = tools(request.path("tools"));
        List<Message> messages = new ArrayList<>();
        for (JsonNode message : request.path("messages")) {
            messages.add(
                    new Message(
                            message.path("role").asText(),
                            content(message.path("content")),
                            calls(message.path("tool_calls"))));
        }
        return model == Model.AGENT ? agent(tools, messages) : caller(tools, messages);
    }

    private record Message(String role, String content, ArrayNode calls) {}

    private static String agent(ArrayNode tools, List<Message> messages) {
        StringBuilder text = new StringBuilder();
        Message first = messages.getFirst();
        boolean system = first.role().equals("system");
        if (!tools.isEmpty()) {
            text.append("<|im_start|>system\n");
            if (system) {
                text.append(first.content()).append("\n\n");
            }
            text.append("# Tools\n");
            tools.forEach(tool -> text.append(dumped(tool)).append('\n'));
            text.append("<|im_end|>\n");
        } else if (system) {
            text.append("<|im_start|>system\n").append(first.content()).append("<|im_end|>\n");
        }
        for (Message m : messages) {
            if (m.role().equals("tool")) {
                text.append("<|im_start|>user\n<result>")
                        .append(m.content())
                        .append("</result><|im_end|>\n");
            } else if (!m.role().equals("system")) {
                text.append("<|im_start|>").append(m.role()).append('\n').append(m.content());
                m.calls()
                        .forEach(
                                call ->
                                        text.append("\n<call>")
                                                .append(dumped(call))
                                                .append("</call>"));
                text.append("<|im_end|>\n");
            }
        }
        return text.append("<|im_start|>assistant\n").toString();
    }

    private static String caller(ArrayNode tools, List<Message> messages) {
        StringBuilder text = new StringBuilder();
        if (!tools.isEmpty()) {
            text.append("TOOLS ").append(dumped(tools)).append('\n');
        }
        for (Message m : messages) {
            text.append('[').append(m.role()).append(']');
            if (m.calls().isEmpty()) {
                text.append(m.content().strip());
            }
            for (JsonNode call : m.calls()) {
                JsonNode function = call.path("function");
                text.append(function.path("name").asText())
                        .append('(')
                        .append(dumped(function.path("arguments")))
                        .append(')');
            }
            text.append("[end]\n");
        }
        return text.append("[assistant]").toString();
    }

    private String content(JsonNode content) {
        if (!content.isArray()) {
            return content.asText("").equals("null") ? "" : content.asText("");
        }
        List<String> texts = new ArrayList<>();
        content.forEach(part -> texts.add(part.path("text").asText()));
        return String.join(sglang ? " " : "\n", texts);
    }

    /** vLLM writes them in an order of its own; SGLang keeps it and puts what is missing last. */
    private ArrayNode tools(JsonNode given) {
        ArrayNode tools = JsonNodeFactory.instance.arrayNode();
        for (JsonNode tool : given) {
            ObjectNode function = JsonNodeFactory.instance.objectNode();
            JsonNode said = tool.path("function");
            if (sglang) {
                said.properties().forEach(e -> function.set(e.getKey(), e.getValue()));
                for (String late : List.of("description", "parameters")) {
                    if (!function.has(late)) {
                        function.putNull(late);
                    }
                }
            } else {
                function.set("name", said.get("name"));
                function.set("description", said.get("description"));
                function.set("parameters", said.get("parameters"));
            }
            ObjectNode written = tools.addObject();
            written.put("type", "function");
            written.set("function", function);
            if (sglang) {
                written.putNull("defer_loading");
            }
        }
        return tools;
    }

    private ArrayNode calls(JsonNode given) {
        ArrayNode calls = JsonNodeFactory.instance.arrayNode();
        for (JsonNode call : given) {
            JsonNode said = call.path("function");
            JsonNode arguments;
            try {
                arguments = JSON.readTree(said.path("arguments").asText());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            ObjectNode written = calls.addObject();
            ObjectNode function = JsonNodeFactory.instance.objectNode();
            written.set("id", call.get("id"));
            if (sglang) {
                written.putNull("index");
                written.put("type", "function");
                function.set("name", said.get("name"));
                function.set("arguments", arguments);
                written.set("function", function);
            } else {
                function.set("arguments", arguments);
                function.set("name", said.get("name"));
                written.set("function", function);
                written.put("type", "function");
            }
        }
        return calls;
    }

    /** As Python's json.dumps with ensure_ascii=False. */
    private static String dumped(JsonNode node) {
        List<String> parts = new ArrayList<>();
        if (node.isObject()) {
            node.properties()
                    .forEach(e -> parts.add('"' + e.getKey() + "\": " + dumped(e.getValue())));
            return "{" + String.join(", ", parts) + "}";
        }
        if (node.isArray()) {
            node.forEach(item -> parts.add(dumped(item)));
            return "[" + String.join(", ", parts) + "]";
        }
        return node.toString();
    }
}
