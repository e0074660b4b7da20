package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.PromptInput.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * ChatML and everything of its form: each message is {@code beforeRole role afterRole content
 * afterContent}, one after the other.
 *
 * <p>What engines do to messages before the template (they differ there) is refused, not guessed:
 * developer messages, unknown roles, and a last message of the assistant.
 *
 * @param prefix stands before the first message
 * @param defaultSystem stands there too when the first message is not the system's; null: nothing
 * @param generationPrompt stands at the end when the model is to answer
 */
public record ChatMlTemplate(
        String prefix,
        @Nullable String defaultSystem,
        String beforeRole,
        String afterRole,
        String afterContent,
        String generationPrompt) {

    public static final String START = "<|im_start|>";
    public static final String END = "<|im_end|>";

    /** ChatML as it is written most often. */
    public static final ChatMlTemplate PLAIN =
            new ChatMlTemplate("", null, START, "\n", END + "\n", START + "assistant\n");

    /** The text on this engine, where it is known without the template itself. */
    EnginePrompt render(PromptInput.Chat chat, EngineProfile engine) {
        if (!chat.addGenerationPrompt() && engine == EngineProfile.ANY) {
            return new EnginePrompt.Unpredictable("engines differ on add_generation_prompt");
        }
        boolean always = engine == EngineProfile.SGLANG;
        return render(chat.messages(), always || chat.addGenerationPrompt());
    }

    /** The text, where all engines agree on it. */
    public EnginePrompt render(List<Message> messages, boolean addGenerationPrompt) {
        if (messages.isEmpty()) {
            return new EnginePrompt.Unpredictable("no messages");
        }
        String lastRole = messages.getLast().role();
        if (lastRole.equals("assistant")) {
            return new EnginePrompt.Unpredictable(
                    "engines differ on a last message of the assistant");
        }
        StringBuilder out = new StringBuilder(renderedChars(messages)).append(prefix);
        if (defaultSystem != null && !messages.getFirst().role().equals("system")) {
            out.append(defaultSystem);
        }
        for (Message message : messages) {
            if (!isPlainRole(message.role())) {
                return new EnginePrompt.Unpredictable(
                        "engines differ on the role " + message.role());
            }
            out.append(beforeRole).append(message.role()).append(afterRole);
            out.append(message.content()).append(afterContent);
        }
        if (addGenerationPrompt) {
            out.append(generationPrompt);
        }
        return new EnginePrompt.Text(out.toString());
    }

    private static boolean isPlainRole(String role) {
        return switch (role) {
            case "system", "user", "assistant", "tool" -> true;
            default -> false;
        };
    }

    private int renderedChars(List<Message> messages) {
        int around = beforeRole.length() + afterRole.length() + afterContent.length();
        long chars = (long) prefix.length() + generationPrompt.length();
        chars += defaultSystem == null ? 0 : defaultSystem.length();
        for (Message message : messages) {
            chars += (long) around + message.role().length() + message.content().length();
        }
        return (int) Math.min(chars, Integer.MAX_VALUE - 8);
    }
}
