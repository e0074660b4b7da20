package io.warmpath.tokens.profile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What of a chat request reaches a template, as the client wrote it. Immutable, as far as its
 * values are not changed: Java's String, Boolean, Integer, Long, BigInteger, Double, List, Map with
 * its keys in the order given, and null.
 *
 * @param tools null: none given
 * @param toolChoice null: not given
 * @param documents null: none given
 * @param addGenerationPrompt null: not given
 * @param arguments {@code chat_template_kwargs}
 * @param reasoningEffort null: not given
 */
public record ChatRequest(
        List<? extends @Nullable Object> messages,
        @Nullable List<? extends @Nullable Object> tools,
        @Nullable Object toolChoice,
        @Nullable List<? extends @Nullable Object> documents,
        @Nullable Boolean addGenerationPrompt,
        boolean continueFinalMessage,
        Map<String, ? extends @Nullable Object> arguments,
        @Nullable String reasoningEffort) {

    public ChatRequest {
        messages = Collections.unmodifiableList(new ArrayList<>(messages));
        arguments = Collections.unmodifiableMap(new LinkedHashMap<>(arguments));
    }

    /** The same with the beginning of its answer, which the model is to go on with. */
    public ChatRequest continuedWith(String said) {
        Map<String, Object> answer = new LinkedHashMap<>(4);
        answer.put("role", "assistant");
        answer.put("content", said);
        List<@Nullable Object> all = new ArrayList<>(messages);
        all.add(answer);
        return with(all, false, true);
    }

    /** The same with other messages. */
    public ChatRequest with(
            List<? extends @Nullable Object> others,
            @Nullable Boolean generationPrompt,
            boolean continued) {
        return new ChatRequest(
                others,
                tools,
                toolChoice,
                documents,
                generationPrompt,
                continued,
                arguments,
                reasoningEffort);
    }

    /** Messages alone. */
    public static ChatRequest of(
            List<? extends @Nullable Object> messages, @Nullable Boolean addGenerationPrompt) {
        return new ChatRequest(
                messages, null, null, null, addGenerationPrompt, false, Map.of(), null);
    }
}
