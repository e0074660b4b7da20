package io.warmpath.tokens;

import java.util.List;

/** The prompt of one request, before it is tokens. */
public sealed interface PromptInput {
    /** Token ids given by the client ({@code prompt: [1,2]}, {@code nvext.token_data}). */
    record Ids(int[] tokens) implements PromptInput {}

    /** Raw text of {@code /v1/completions}. */
    record Text(String text) implements PromptInput {}

    /** Messages of {@code /v1/chat/completions}. */
    record Chat(List<Message> messages, boolean addGenerationPrompt) implements PromptInput {}

    /**
     * Something whose tokens this gateway cannot know yet (tools, images, batches); routed by load
     * alone.
     */
    record Opaque(String why) implements PromptInput {}

    /** One message; {@code content} is its plain text (text parts joined). */
    record Message(String role, String content) {}
}
