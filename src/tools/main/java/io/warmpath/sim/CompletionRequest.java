package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.half.Meeting;
import io.warmpath.sim.session.SessionParams;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A completion request as far as a simulated engine understands it; other fields are ignored, tools
 * included unless {@link SimOptions#chats} reads them.
 *
 * @param prompt what the prompt's tokens are made of
 * @param maxTokens null when the client sets no limit
 * @param sessionId SGLang's {@code session_id}: the name of a session-radix session
 * @param session SGLang's {@code session_params}: the opened session it belongs to; null except for
 *     {@link Form#GENERATE}
 * @param rid id the client gives the request
 * @param priority null: none given
 * @param pinNanos how long its prompt is to be pinned, by {@code kv_hints}; 0: not at all
 * @param rank data-parallel rank asked for, null for any
 * @param meeting where its other half is met; null: not told
 */
record CompletionRequest(
        Form form,
        String model,
        Prompt prompt,
        boolean stream,
        boolean includeUsage,
        boolean ignoreEnd,
        boolean returnTokenIds,
        @Nullable Integer maxTokens,
        int minTokens,
        Stops stops,
        @Nullable String salt,
        @Nullable String extraKey,
        @Nullable String sessionId,
        @Nullable SessionParams session,
        @Nullable String rid,
        @Nullable Integer priority,
        long pinNanos,
        @Nullable Integer rank,
        @Nullable Meeting meeting) {
    /** SGLang's own default. */
    private static final int GENERATED_TOKENS = 128;

    /** What an engine can be asked for. */
    enum Form {
        CHAT,
        COMPLETION,
        /** SGLang's own: token ids in and out. */
        GENERATE
    }

    boolean chat() {
        return form == Form.CHAT;
    }

    /** The prompt before tokenizing. */
    sealed interface Prompt {
        record Ids(int[] tokens) implements Prompt {}

        record Text(String text) implements Prompt {}
    }

    /** The client's mistake, to be answered with 400. */
    static final class Malformed extends Exception {
        Malformed(String message) {
            super(message);
        }

        String text() {
            return String.valueOf(getMessage());
        }
    }

    /** {@code chats}: how chats become text. */
    static CompletionRequest parse(JsonNode body, Form form, String ownModel, Chats chats)
            throws Malformed {
        if (!body.isObject()) {
            throw new Malformed("The request body must be a JSON object.");
        }
        if (form == Form.GENERATE) {
            return generate(body, ownModel);
        }
        Integer n = integer(body, "n", null);
        if (n != null && n != 1) {
            throw new Malformed("This engine gives one answer per request; n must be 1.");
        }
        Integer maxTokens =
                integer(body, "max_completion_tokens", integer(body, "max_tokens", null));
        if (maxTokens != null && maxTokens < 1) {
            throw new Malformed("max_tokens must be at least 1, got " + maxTokens + ".");
        }
        Integer minTokens = integer(body, "min_tokens", 0);
        SessionParams unused = session(body); // SGLang reads it here, and does nothing with it
        return new CompletionRequest(
                form,
                text(body, "model", ownModel),
                form == Form.CHAT ? chats.prompt(body) : prompt(body),
                flag(body, "stream"),
                flag(body.path("stream_options"), "include_usage"),
                flag(body, "ignore_eos"),
                flag(body, "return_token_ids"),
                maxTokens,
                minTokens == null ? 0 : minTokens,
                stops(body),
                optional(body, "cache_salt"),
                optional(body, "extra_key"),
                optional(body, "session_id"),
                null,
                optional(body, "rid"),
                integer(body, "priority", null),
                pinNanos(body),
                integer(body, "routed_dp_rank", integer(body, "data_parallel_rank", null)),
                meeting(body));
    }

    private static CompletionRequest generate(JsonNode body, String ownModel) throws Malformed {
        JsonNode sampling = body.path("sampling_params");
        Integer n = integer(sampling, "n", null);
        if (n != null && n != 1) {
            throw new Malformed("This engine gives one answer per request; n must be 1.");
        }
        Integer maxTokens = integer(sampling, "max_new_tokens", GENERATED_TOKENS);
        Integer minTokens = integer(sampling, "min_new_tokens", 0);
        if (maxTokens == null || maxTokens < 1) {
            throw new Malformed("max_new_tokens must be at least 1, got " + maxTokens + ".");
        }
        String text = optional(body, "text");
        if ((text == null) == body.path("input_ids").isMissingNode()) {
            throw new Malformed("Exactly one of text and input_ids must be given.");
        }
        SessionParams session = session(body);
        if (session != null && optional(body, "session_id") != null) {
            throw new Malformed("session_params and session_id cannot be given together.");
        }
        return new CompletionRequest(
                Form.GENERATE,
                ownModel,
                text == null
                        ? new Prompt.Ids(ids(body.path("input_ids"), "input_ids"))
                        : new Prompt.Text(text),
                flag(body, "stream"),
                true,
                flag(sampling, "ignore_eos"),
                true,
                maxTokens,
                minTokens == null ? 0 : minTokens,
                stops(sampling),
                optional(body, "cache_salt"),
                optional(body, "extra_key"),
                optional(body, "session_id"),
                session,
                optional(body, "rid"),
                integer(body, "priority", null),
                pinNanos(body),
                integer(body, "routed_dp_rank", integer(body, "data_parallel_rank", null)),
                meeting(body));
    }

    /**
     * The actions {@code Pin} of a {@code kv_hints} envelope; those of other types are passed over.
     */
    private static long pinNanos(JsonNode body) throws Malformed {
        JsonNode hints = body.path("kv_hints");
        if (hints.isMissingNode() || hints.isNull()) {
            return 0;
        }
        if (!hints.path("protocol_version").asText("").equals("0.1")
                || !hints.path("actions").isArray()) {
            throw new Malformed("kv_hints needs protocol_version 0.1 and a list of actions.");
        }
        long longest = 0;
        for (JsonNode action : hints.path("actions")) {
            if (action.path("action_type").asText("").equalsIgnoreCase("pin")) {
                Integer ttl = integer(action.path("payload"), "ttl_seconds", 300);
                longest = Math.max(longest, ttl == null ? 0 : ttl * 1_000_000_000L);
            }
        }
        return longest;
    }

    private static @Nullable SessionParams session(JsonNode body) throws Malformed {
        JsonNode params = body.path("session_params");
        if (params.isMissingNode() || params.isNull()) {
            return null;
        }
        if (!params.isObject()) {
            throw new Malformed("session_params must be an object.");
        }
        String id = optional(params, "id");
        Integer offset = integer(params, "offset", 0);
        if (offset != null && offset < 0) {
            throw new Malformed("session_params.offset must not be negative.");
        }
        return id == null
                ? null
                : new SessionParams(
                        id,
                        optional(params, "rid"),
                        offset == null ? 0 : offset,
                        flag(params, "replace"),
                        flag(params, "drop_previous_output"));
    }

    /** Null without a room: port and host alone name none. */
    private static @Nullable Meeting meeting(JsonNode body) throws Malformed {
        JsonNode room = body.path("bootstrap_room");
        if (room.isMissingNode() || room.isNull()) {
            return null;
        }
        if (!room.isIntegralNumber() || !room.canConvertToLong() || room.longValue() < 0) {
            throw new Malformed("bootstrap_room must be a number from 0 to 2^63 - 1.");
        }
        String host = optional(body, "bootstrap_host");
        if (host == null) {
            throw new Malformed("bootstrap_host must be a string.");
        }
        return new Meeting(
                host,
                integer(body, "bootstrap_port", null),
                room.longValue(),
                integer(body, "disagg_prefill_dp_rank", null));
    }

    /** {@code stop} and {@code stop_token_ids}, which all engines name alike. */
    private static Stops stops(JsonNode at) throws Malformed {
        List<String> texts = new ArrayList<>();
        JsonNode stop = at.path("stop");
        for (JsonNode s : stop.isTextual() ? List.of(stop) : stop) {
            if (!s.isTextual()) {
                throw new Malformed("stop must be a string or a list of strings.");
            }
            if (!s.textValue().isEmpty()) {
                texts.add(s.textValue());
            }
        }
        Set<Integer> ids = new HashSet<>();
        for (int id : ids(at.path("stop_token_ids"), "stop_token_ids")) {
            ids.add(id);
        }
        return new Stops(texts, ids);
    }

    /** {@code prompt} of a completion: text, or token ids. */
    static Prompt prompt(JsonNode body) throws Malformed {
        JsonNode prompt = body.path("prompt");
        if (prompt.isTextual()) {
            return new Prompt.Text(prompt.textValue());
        }
        if (!prompt.isArray() || prompt.isEmpty()) {
            throw new Malformed("prompt must be a string or a list of token ids.");
        }
        if (prompt.size() == 1 && prompt.get(0).isTextual()) {
            return new Prompt.Text(prompt.get(0).textValue());
        }
        JsonNode ids = prompt.size() == 1 && prompt.get(0).isArray() ? prompt.get(0) : prompt;
        return new Prompt.Ids(ids(ids, "prompt"));
    }

    static int[] ids(JsonNode ids, String field) throws Malformed {
        int[] tokens = new int[ids.size()];
        for (int i = 0; i < tokens.length; i++) {
            JsonNode id = ids.get(i);
            if (id == null
                    || !id.isIntegralNumber()
                    || id.longValue() < 0
                    || id.longValue() > 0xffffffffL) {
                throw new Malformed(
                        "%s[%s] must be a token id; batches of prompts are not served."
                                .formatted(field, i));
            }
            tokens[i] = (int) id.longValue();
        }
        return tokens;
    }

    static @Nullable Integer integer(JsonNode body, String field, @Nullable Integer otherwise)
            throws Malformed {
        JsonNode value = body.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return otherwise;
        }
        if (!value.canConvertToInt() || !value.isIntegralNumber()) {
            throw new Malformed(field + " must be an integer.");
        }
        return value.intValue();
    }

    static boolean flag(JsonNode body, String field) throws Malformed {
        JsonNode value = body.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return false;
        }
        if (!value.isBoolean()) {
            throw new Malformed(field + " must be true or false.");
        }
        return value.booleanValue();
    }

    static @Nullable String optional(JsonNode body, String field) throws Malformed {
        JsonNode value = body.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw new Malformed(field + " must be a string.");
        }
        return value.textValue();
    }

    private static String text(JsonNode body, String field, String otherwise) throws Malformed {
        String value = optional(body, field);
        return value == null ? otherwise : value;
    }
}
