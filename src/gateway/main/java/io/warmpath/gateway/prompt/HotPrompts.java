package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.hot.HotPrefixes;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.Map;

/**
 * Gives the prompts of requests to the sample of {@link HotPrefixes}. Any thread.
 *
 * @param keepsTexts the first characters of prompts are kept, too
 */
public record HotPrompts(HotPrefixes prefixes, boolean keepsTexts) {
    private static final int TEXT_CHARS = 80;

    /** Reading a longer chat for the sake of its beginning takes too long for an event loop. */
    private static final int MOST_CHAT_CHARS = 16 << 10;

    /** The request goes to this candidate. Nanoseconds, and microseconds for one of the sample. */
    public void booked(InferenceRequest request, Candidate to, PromptContent prompt) {
        int blockSize = to.worker().blockSize();
        if (blockSize <= 0) {
            return;
        }
        long standsFor = prefixes.standsFor();
        if (standsFor == 0) {
            return;
        }
        PrefixQuery query = prompt.query(blockSize, request.space());
        if (query != null) {
            String text = keepsTexts ? text(request.prompt()) : "";
            prefixes.add(request.model(), query, text, standsFor);
        }
    }

    /** How a prompt begins; empty when it has no text or the text is not at hand. */
    static String text(PromptInput prompt) {
        return switch (prompt) {
            case PromptInput.Text text -> cut(text.text());
            case PromptInput.Chat chat -> {
                StringBuilder all = new StringBuilder();
                for (PromptInput.Message m : chat.messages()) {
                    said(all, m.role(), m.content());
                }
                yield cut(all);
            }
            case PromptInput.Conversation chat ->
                    chat.chars() <= MOST_CHAT_CHARS ? text(chat.source().get().messages()) : "";
            case PromptInput.Ids ids -> "";
            case PromptInput.Several several -> "";
            case PromptInput.Opaque opaque -> "";
        };
    }

    private static String text(List<?> messages) {
        StringBuilder all = new StringBuilder();
        for (Object message : messages) {
            if (message instanceof Map<?, ?> m) {
                // Parts and tool calls are no text of their own.
                String content = m.get("content") instanceof String s ? s : "...";
                said(all, String.valueOf(m.get("role")), content);
            }
        }
        return cut(all);
    }

    private static void said(StringBuilder all, String role, String content) {
        if (all.length() < TEXT_CHARS) {
            all.append(all.isEmpty() ? "" : "\n").append(role).append(": ");
            all.append(content, 0, Math.min(content.length(), TEXT_CHARS));
        }
    }

    private static String cut(CharSequence text) {
        return text.subSequence(0, Math.min(text.length(), TEXT_CHARS)).toString();
    }
}
