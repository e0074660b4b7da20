package io.warmpath.api.messages;

import static io.warmpath.api.error.InvalidRequest.bad;

import io.warmpath.api.json.JsonTree;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * System prompt and messages of Anthropic's API as messages of OpenAI's, in the same order. One per
 * request, one thread. An answer's texts become one text as they were before they were cut into
 * blocks, so that its tokens are those that the engine has made and holds.
 */
final class MessagesContent {
    /**
     * Claude Code's first block: new in each request, so nothing behind it would ever be cached.
     */
    private static final String BILLING = "x-anthropic-billing-header:";

    private final List<@Nullable Object> messages = new ArrayList<>();
    private final MessagesHints hints;
    private boolean endsInsideAnswer;

    /** {@code hints}: is shown every block that may ask to be cached. */
    MessagesContent(MessagesHints hints) {
        this.hints = hints;
    }

    List<@Nullable Object> messages() {
        return messages;
    }

    /** The last message is the beginning of the answer. */
    boolean endsInsideAnswer() {
        return endsInsideAnswer;
    }

    /**
     * System messages that the template takes only in front stand there, behind the system prompt.
     *
     * @param laterSystem whether it takes them in their places
     */
    void chat(JsonMembers body, BooleanSupplier laterSystem) {
        List<JsonMembers> given = body.objects("messages");
        if (given.isEmpty()) {
            throw bad("messages", "You must provide messages, a non-empty array.");
        }
        List<String> front = new ArrayList<>();
        texts(body, "system", front);
        List<JsonMembers> chat = given;
        if (hasLater(given, front.isEmpty()) && !laterSystem.getAsBoolean()) {
            chat = new ArrayList<>();
            for (JsonMembers message : given) {
                if (isSystem(message)) {
                    texts(message, "content", front);
                } else {
                    chat.add(message);
                }
            }
        }
        String all = String.join("\n", front);
        if (!all.isEmpty()) {
            messages.add(message("system", all));
        }
        messages(chat);
    }

    private static boolean isSystem(JsonMembers message) {
        return message.requiredText("role").equals("system");
    }

    private static boolean isBilling(JsonMembers block) {
        String text = block.text("text");
        return text != null && text.startsWith(BILLING);
    }

    private static boolean hasLater(List<JsonMembers> given, boolean firstMayBe) {
        return given.subList(firstMayBe ? 1 : 0, given.size()).stream()
                .anyMatch(MessagesContent::isSystem);
    }

    private void texts(JsonMembers of, String member, List<String> into) {
        Object given = of.all().get(member);
        if (given instanceof String text) {
            into.add(text);
        } else if (given != null) {
            for (JsonMembers block : of.objects(member)) {
                if (!block.requiredText("type").equals("text")) {
                    throw bad(block.path("type"), "A system prompt has blocks of text only.");
                }
                hints.cached(block);
                if (!isBilling(block)) {
                    into.add(block.requiredText("text"));
                }
            }
        }
    }

    private void messages(List<JsonMembers> given) {
        for (JsonMembers message : given) {
            endsInsideAnswer = false;
            String role = message.requiredText("role");
            switch (role) {
                case "assistant" -> answer(message);
                case "user", "system" -> asked(role, message);
                default ->
                        throw bad(
                                message.path("role"),
                                "`" + role + "` is not user, assistant or system.");
            }
        }
    }

    private static Map<String, @Nullable Object> message(String role, @Nullable Object content) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    /** Blocks, or the text that stands for one. */
    private List<JsonMembers> blocks(JsonMembers of, boolean required) {
        Object content = of.all().get("content");
        if (content instanceof String text) {
            Map<String, @Nullable Object> block = new LinkedHashMap<>();
            block.put("type", "text");
            block.put("text", text);
            return List.of(new JsonMembers(of.path("content"), block));
        }
        if (content == null && required) {
            throw bad(of.path("content"), "`" + of.path("content") + "` is missing.");
        }
        List<JsonMembers> blocks = of.objects("content");
        blocks.forEach(hints::cached);
        return blocks;
    }

    /**
     * Results of tools each become a message of their own, in front of what is said beside them.
     */
    private void asked(String role, JsonMembers message) {
        Parts said = new Parts();
        List<JsonMembers> blocks = blocks(message, true);
        boolean results = false;
        for (JsonMembers block : blocks) {
            if (block.requiredText("type").equals("tool_result")) {
                results = true;
                Parts result = new Parts();
                for (JsonMembers inner : blocks(block, false)) {
                    part(inner, result);
                }
                Map<String, @Nullable Object> tool = message("tool", result.text());
                tool.put("tool_call_id", block.requiredText("tool_use_id"));
                messages.add(tool);
                said.takeMedia(result);
            } else if (!role.equals("system") || !isBilling(block)) {
                part(block, said);
            }
        }
        if (!results || !said.isEmpty()) {
            messages.add(message(role, said.content()));
        }
    }

    private void part(JsonMembers block, Parts into) {
        String type = block.requiredText("type");
        switch (type) {
            case "text" -> into.add(block.requiredText("text"));
            case "image" -> into.image(url(block.required("source")));
            case "document" -> document(block, into);
            default ->
                    throw bad(
                            block.path("type"),
                            "Blocks of type `" + type + "` are not known here.");
        }
    }

    private static String url(JsonMembers source) {
        String type = source.requiredText("type");
        return switch (type) {
            case "url" -> source.requiredText("url");
            case "base64" ->
                    "data:"
                            + source.requiredText("media_type")
                            + ";base64,"
                            + source.requiredText("data");
            default ->
                    throw bad(
                            source.path("type"),
                            "`" + type + "` is no source of images here; base64 and url are.");
        };
    }

    private void document(JsonMembers block, Parts into) {
        JsonMembers source = block.required("source");
        String type = source.requiredText("type");
        switch (type) {
            case "text" -> into.add(source.requiredText("data"));
            case "content" -> {
                for (JsonMembers inner : blocks(source, true)) {
                    part(inner, into);
                }
            }
            default ->
                    throw bad(
                            source.path("type"),
                            "`" + type + "` is no source of documents here; text and content are.");
        }
    }

    private void answer(JsonMembers message) {
        StringBuilder text = new StringBuilder();
        StringBuilder thinking = new StringBuilder();
        List<@Nullable Object> calls = new ArrayList<>();
        for (JsonMembers block : blocks(message, true)) {
            String type = block.requiredText("type");
            switch (type) {
                case "text" -> text.append(block.requiredText("text"));
                case "thinking" -> thinking.append(block.requiredText("thinking"));
                case "redacted_thinking" -> {} // encrypted: nobody here can read it
                case "tool_use" -> calls.add(call(block));
                default ->
                        throw bad(
                                block.path("type"),
                                "Blocks of type `" + type + "` are not known here.");
            }
        }
        Map<String, @Nullable Object> said =
                message("assistant", text.isEmpty() && !calls.isEmpty() ? null : text.toString());
        if (!thinking.isEmpty()) {
            said.put("reasoning_content", thinking.toString());
        }
        if (!calls.isEmpty()) {
            said.put("tool_calls", calls);
        }
        messages.add(said);
        endsInsideAnswer = calls.isEmpty() && !text.isEmpty();
    }

    private static Map<String, @Nullable Object> call(JsonMembers block) {
        Map<String, @Nullable Object> function = new LinkedHashMap<>();
        function.put("name", block.requiredText("name"));
        function.put(
                "arguments",
                new String(JsonTree.bytes(block.required("input").all()), StandardCharsets.UTF_8));
        Map<String, @Nullable Object> call = new LinkedHashMap<>();
        call.put("id", block.requiredText("id"));
        call.put("type", "function");
        call.put("function", function);
        return call;
    }

    /** What one message says: one text while it has only texts, parts as soon as it has more. */
    private static final class Parts {
        private final List<@Nullable Object> all = new ArrayList<>(1);
        private final List<String> texts = new ArrayList<>(1);

        void add(String text) {
            texts.add(text);
            all.add(MessagesRequest.members("type", "text", "text", text));
        }

        void image(String url) {
            all.add(MessagesRequest.members("type", "image_url", "image_url", Map.of("url", url)));
        }

        /** Those that are no texts: a tool's message cannot hold them. */
        void takeMedia(Parts from) {
            for (Object part : from.all) {
                if (part instanceof Map<?, ?> members && members.containsKey("image_url")) {
                    all.add(part);
                }
            }
        }

        boolean isEmpty() {
            return all.isEmpty();
        }

        String text() {
            return String.join("\n", texts);
        }

        Object content() {
            return texts.size() == all.size() ? text() : all;
        }
    }
}
