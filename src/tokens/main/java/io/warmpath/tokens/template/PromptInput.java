package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.ChatRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The prompt of one request, before it is tokens. */
public sealed interface PromptInput {
    /** Token ids given by the client ({@code prompt: [1,2]}, {@code nvext.token_data}). */
    record Ids(int[] tokens) implements PromptInput {}

    /** Raw text of {@code /v1/completions}. */
    record Text(String text) implements PromptInput {}

    /**
     * More than one text or list of ids, each of them a prompt: completions and embeddings of a
     * list.
     */
    record Several(List<PromptInput> prompts) implements PromptInput {
        public Several {
            prompts = List.copyOf(prompts);
        }
    }

    /** A chat of roles and texts alone. */
    record Chat(List<Message> messages, boolean addGenerationPrompt) implements PromptInput {
        /** The same, as a template takes it. */
        public ChatRequest request() {
            List<Map<String, Object>> maps = new ArrayList<>(messages.size());
            for (Message message : messages) {
                // In the order in which engines have them; a template can print it.
                Map<String, Object> map = new LinkedHashMap<>(4);
                map.put("role", message.role());
                map.put("content", message.content());
                maps.add(map);
            }
            return ChatRequest.of(maps, addGenerationPrompt);
        }
    }

    /**
     * A chat with anything else that a template may look at: tools, tool calls, parts, arguments.
     *
     * @param chars length of the request it comes from; reading it costs accordingly
     * @param source reads it, on any thread; throws IllegalArgumentException when some member is
     *     not what it has to be
     * @param extent says afterwards how much of it the ids stand for
     */
    record Conversation(int chars, Supplier<ChatRequest> source, Extent extent)
            implements PromptInput {
        public Conversation(int chars, Supplier<ChatRequest> source) {
            this(chars, source, new Extent());
        }
    }

    /**
     * Whether ids are those of a whole prompt. Written before they are handed on, by whoever makes
     * them; read after.
     */
    final class Extent {
        private volatile boolean beginning;

        /** They end before the first medium, whose place and length only the engine knows. */
        public void beginningOnly() {
            beginning = true;
        }

        public boolean isBeginning() {
            return beginning;
        }
    }

    /** Something whose tokens this gateway cannot know; routed by load alone. */
    record Opaque(String why) implements PromptInput {}

    /** One message; {@code content} is its plain text. */
    record Message(String role, String content) {}
}
