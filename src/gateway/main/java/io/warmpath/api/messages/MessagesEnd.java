package io.warmpath.api.messages;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why an answer ended and what it cost, in Anthropic's words: gathered from the pieces of OpenAI's
 * answer. One per answer, one thread.
 */
final class MessagesEnd {
    private final List<String> stops;
    private @Nullable String finish;
    private @Nullable String stop;
    private boolean calls;
    private long promptTokens = -1;
    private long completionTokens = -1;
    private long cachedTokens = -1;

    /** {@code stops}: the request's {@code stop_sequences}. */
    MessagesEnd(List<String> stops) {
        this.stops = stops;
    }

    void add(ChatChunk chunk) {
        finish = chunk.finish() == null ? finish : chunk.finish();
        stop = chunk.stop() == null ? stop : chunk.stop();
        calls |= !chunk.calls().isEmpty();
        if (chunk.promptTokens() >= 0) {
            promptTokens = chunk.promptTokens();
            cachedTokens = chunk.cachedTokens();
        }
        completionTokens = Math.max(completionTokens, chunk.completionTokens());
    }

    /** The engine has said why it stopped. */
    boolean known() {
        return finish != null;
    }

    /** The engine has given up; what it said is not the answer. */
    boolean aborted() {
        return "abort".equals(finish) || "error".equals(finish);
    }

    private boolean metStop() {
        return stop != null && stops.contains(stop);
    }

    String reason() {
        return switch (finish == null ? "stop" : finish) {
            case "length" -> "max_tokens";
            case "tool_calls", "function_call" -> "tool_use";
            case "content_filter" -> "refusal";
            // A tool that was asked for by name is called without saying so.
            default -> metStop() ? "stop_sequence" : calls ? "tool_use" : "end_turn";
        };
    }

    /** {@code stop_reason} and {@code stop_sequence}. */
    void write(Map<String, @Nullable Object> into) {
        String reason = reason();
        into.put("stop_reason", reason);
        into.put("stop_sequence", reason.equals("stop_sequence") ? stop : null);
    }

    /** Anthropic counts what was read from the cache apart from the input; OpenAI as part of it. */
    Map<String, @Nullable Object> usage() {
        long cached = Math.max(0, cachedTokens);
        Map<String, @Nullable Object> usage = new LinkedHashMap<>();
        usage.put("input_tokens", Math.max(0, promptTokens - cached));
        usage.put("cache_creation_input_tokens", 0);
        usage.put("cache_read_input_tokens", cached);
        usage.put("output_tokens", Math.max(0, completionTokens));
        return usage;
    }
}
