package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.CompletionRequest.Prompt;
import io.warmpath.sim.model.ChatMl;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chats to the text that is tokenised. Engine's thread only.
 *
 * @param partJoint what stands between the text parts of one message
 * @param template null: ChatML, which ignores tools
 */
record Chats(String partJoint, @Nullable ChatText template, Faults faults) {
    /** The messages of {@code body} as the template writes them. */
    Prompt.Text prompt(JsonNode body) throws Malformed {
        JsonNode messages = body.path("messages");
        if (!messages.isArray() || messages.isEmpty()) {
            throw new Malformed("Messages cannot be empty.");
        }
        return new Prompt.Text(
                faults.templateStart()
                        + (template == null ? chatMl(body, messages) : template.of(body)));
    }

    /**
     * With {@code continue_final_message} the last message is an answer's beginning: it stands
     * behind what opens the answer, and nothing closes it.
     */
    private String chatMl(JsonNode body, JsonNode messages) throws Malformed {
        boolean goesOn = body.path("continue_final_message").asBoolean(false);
        boolean opens = body.path("add_generation_prompt").asBoolean(!goesOn);
        if (goesOn && opens) {
            throw new Malformed(
                    "Cannot set both `continue_final_message` and `add_generation_prompt` to True.");
        }
        List<ChatMl.Message> read = new ArrayList<>();
        for (JsonNode m : messages) {
            JsonNode role = m.path("role");
            if (!role.isTextual()) {
                throw new Malformed("messages[" + read.size() + "].role must be a string.");
            }
            read.add(new ChatMl.Message(role.textValue(), content(m, read.size())));
        }
        if (!goesOn) {
            return ChatMl.render(read, opens);
        }
        ChatMl.Message begun = read.removeLast();
        return ChatMl.render(read, begun.role().equals("assistant"))
                + (begun.role().equals("assistant") ? begun.content() : open(begun));
    }

    private static String open(ChatMl.Message last) {
        String closed = ChatMl.render(List.of(last), false);
        return closed.substring(0, closed.length() - ChatMl.END.length() - 1);
    }

    private String content(JsonNode message, int index) throws Malformed {
        JsonNode content = message.path("content");
        if (content.isTextual()) {
            return content.textValue();
        }
        if (content.isNull() || content.isMissingNode()) {
            return "";
        }
        List<String> parts = new ArrayList<>();
        for (JsonNode part : content) {
            if (!part.path("text").isTextual()) {
                throw new Malformed("messages[" + index + "].content: only text is understood.");
            }
            parts.add(part.path("text").textValue());
        }
        return String.join(partJoint, parts);
    }
}
