package io.warmpath.gateway.selfcheck;

import io.warmpath.tokens.template.PromptInput;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What has to be as in the engine for a prompt's ids to be right. Forms lose trust each for itself:
 * a difference in how tools are written says nothing of chats without them.
 */
public enum PromptForm {
    /** The tokenizer. */
    TEXT("texts"),
    /** The template, too. */
    CHAT("plain chats"),
    /** What the engine does to tools, parts and arguments before the template, too. */
    CONVERSATION("chats with tools, parts or arguments");

    private final String words;

    PromptForm(String words) {
        this.words = words;
    }

    /** In sentences. */
    String words() {
        return words;
    }

    /** In metrics and JSON. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Null for prompts that are ids already, or never. */
    public static @Nullable PromptForm of(PromptInput prompt) {
        return switch (prompt) {
            case PromptInput.Text text -> TEXT;
            case PromptInput.Chat chat -> CHAT;
            case PromptInput.Conversation chat -> CONVERSATION;
            case PromptInput.Ids ids -> null;
            case PromptInput.Several several -> null;
            case PromptInput.Opaque opaque -> null;
        };
    }
}
