package io.warmpath.sim.model;

import java.util.List;

/** The ChatML template, as plain code. */
public final class ChatMl {
    /** One message of a conversation; {@code content} is its plain text. */
    public record Message(String role, String content) {}

    /** Ends every message, and every answer that ends by itself. */
    public static final String END = "<|im_end|>";

    private static final String START = "<|im_start|>";

    /** Opens the assistant's answer. */
    static final String OPENING = START + "assistant\n";

    private ChatMl() {}

    /** {@code addGenerationPrompt}: opens the assistant's answer. */
    public static String render(List<Message> messages, boolean addGenerationPrompt) {
        StringBuilder text = new StringBuilder();
        for (Message m : messages) {
            text.append(START)
                    .append(m.role())
                    .append('\n')
                    .append(m.content())
                    .append(END)
                    .append('\n');
        }
        if (addGenerationPrompt) {
            text.append(OPENING);
        }
        return text.toString();
    }
}
