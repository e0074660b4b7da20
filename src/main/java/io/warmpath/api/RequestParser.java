package io.warmpath.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.BodyEdits;
import io.warmpath.gateway.InferenceRequest;
import io.warmpath.tokens.PromptInput;
import io.warmpath.upstream.HeapBytes;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what routing needs out of a request body, in one pass over its bytes.
 *
 * <p>Unknown members are stepped over: the bytes are sent on, so they survive. A member given twice
 * counts with its last value, as the engines read it. One instance per request, one thread.
 */
final class RequestParser {
    /** Which API the body belongs to. */
    enum Endpoint {
        CHAT,
        COMPLETIONS
    }

    private static final JsonFactory JSON =
            JsonFactory.builder()
                    // Names come from clients: they must not fill a table that never shrinks.
                    .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, false)
                    .configure(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW, false)
                    // The body's size has its own limit.
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxStringLength(Integer.MAX_VALUE)
                                    .build())
                    .build();

    private final Endpoint endpoint;
    private final JsonParser json;
    private final RoutingHints hints = new RoutingHints();
    private final PromptReader prompts;
    private @Nullable String model;
    private boolean stream;
    private @Nullable String opaque;
    private boolean addGenerationPrompt = true;
    private int afterBrace;
    private boolean empty = true;
    private boolean hasRank;
    private int saltStart = -1;
    private int saltEnd = -1;

    /** Jackson's note on where its input came from; says nothing to a client. */
    private static final Pattern SOURCE_NOTE =
            Pattern.compile("\\[Source: .*?(?=line: \\d)|(?<=column: \\d{1,10})\\]");

    private RequestParser(Endpoint endpoint, JsonParser json) {
        this.endpoint = endpoint;
        this.json = json;
        this.prompts = new PromptReader(json);
    }

    /**
     * @throws GatewayException BadRequest, with the position for bad JSON and the member's name for
     *     a bad value
     */
    static InferenceRequest parse(
            Endpoint endpoint,
            String requestId,
            String target,
            MultiMap headers,
            Buffer body,
            boolean explain) {
        HeapBytes bytes = HeapBytes.of(body);
        rejectOtherEncodings(bytes);
        try (JsonParser json = JSON.createParser(bytes.array(), bytes.offset(), bytes.length())) {
            RequestParser parser = new RequestParser(endpoint, json);
            parser.read();
            parser.hints.readHeaders(headers);
            return parser.request(requestId, target, headers, body, explain);
        } catch (JsonProcessingException e) {
            throw new GatewayException(new GatewayError.BadRequest("", notJson(e)));
        } catch (IOException e) {
            // Reading from memory; what is left is bytes that are not UTF-8.
            throw bad("", "The request body is not valid UTF-8: " + e.getMessage() + ".");
        }
    }

    private void read() throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw bad("", "The request body must be a JSON object.");
        }
        afterBrace = (int) json.currentLocation().getByteOffset();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            empty = false;
            JsonToken value = json.nextToken();
            member(name, value);
        }
        if (json.nextToken() != null) {
            throw bad("", "The request body has something behind the JSON object.");
        }
    }

    private void member(String name, JsonToken value) throws IOException {
        switch (name) {
            case "model" -> model = text(name, value);
            case "stream" -> stream = bool(name, value, false);
            case "stream_options" -> {
                object(name, value);
                json.skipChildren();
            }
            case "max_tokens", "max_completion_tokens", "n" -> integer(name, value);
            case "messages" -> {
                if (endpoint == Endpoint.CHAT) {
                    prompts.messages(value);
                } else {
                    json.skipChildren();
                }
            }
            case "prompt" -> {
                if (endpoint == Endpoint.COMPLETIONS) {
                    prompts.prompt(value);
                } else {
                    json.skipChildren();
                }
            }
            case "cache_salt" -> salt(name, value);
            case "routed_dp_rank", "data_parallel_rank" -> {
                hasRank |= value != JsonToken.VALUE_NULL;
                hints.bodyRank(name, integer(name, value));
            }
            case "nvext" -> {
                object(name, value);
                if (value == JsonToken.START_OBJECT) {
                    hints.readNvext(json);
                }
            }
            case "add_generation_prompt" -> addGenerationPrompt = bool(name, value, true);
            // These change the prompt's tokens, or the cache's name, in ways not known here.
            case "tools",
                    "functions",
                    "documents",
                    "chat_template",
                    "chat_template_kwargs",
                    "reasoning_effort",
                    "continue_final_message",
                    "truncate_prompt_tokens",
                    "mm_processor_kwargs",
                    "prompt_embeds",
                    "input_embeds",
                    "suffix",
                    "lora_path",
                    "extra_key" ->
                    opaqueUnlessEmpty(name, value);
            default -> json.skipChildren();
        }
    }

    private InferenceRequest request(
            String requestId, String target, MultiMap headers, Buffer body, boolean explain) {
        if (model == null || model.isEmpty()) {
            throw bad("model", "You must provide a model; GET /v1/models lists those served here.");
        }
        PromptInput prompt =
                endpoint == Endpoint.CHAT
                        ? prompts.chat(addGenerationPrompt)
                        : prompts.completion();
        int[] given = hints.tokens();
        if (given != null) {
            prompt = new PromptInput.Ids(given);
        } else if (opaque != null) {
            prompt = new PromptInput.Opaque(opaque);
        }
        OptionalLong worker = hints.worker();
        OptionalInt rank = hints.rank();
        return new InferenceRequest(
                requestId,
                target,
                headers,
                body,
                model,
                stream,
                prompt,
                hints.salt(),
                hints.saltToSend(),
                worker,
                rank,
                new BodyEdits(afterBrace, empty, hasRank, saltStart, saltEnd),
                explain);
    }

    private void salt(String name, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            hints.bodySalt("");
        } else {
            hints.bodySalt(text(name, value));
        }
        saltStart = (int) json.currentTokenLocation().getByteOffset();
        json.finishToken();
        saltEnd = (int) json.currentLocation().getByteOffset();
    }

    private void opaqueUnlessEmpty(String name, JsonToken value) throws IOException {
        boolean matters =
                switch (value) {
                    case VALUE_NULL, VALUE_FALSE -> false;
                    case START_ARRAY -> json.nextToken() != JsonToken.END_ARRAY;
                    case START_OBJECT -> json.nextToken() != JsonToken.END_OBJECT;
                    default -> true;
                };
        if (matters) {
            opaque = name;
            if (value == JsonToken.START_ARRAY || value == JsonToken.START_OBJECT) {
                skipRest(json);
            }
        }
    }

    /** Steps over the rest of a container whose first inner token is the current one. */
    private static void skipRest(JsonParser json) throws IOException {
        JsonToken inner = json.currentToken();
        while (inner != JsonToken.END_ARRAY && inner != JsonToken.END_OBJECT) {
            if (inner == null) {
                throw new IOException("unexpected end of input");
            }
            json.skipChildren();
            inner = json.nextToken();
        }
    }

    private String text(String name, JsonToken value) throws IOException {
        if (value != JsonToken.VALUE_STRING) {
            throw bad(name, "`" + name + "` must be a string" + but(value));
        }
        return json.getText();
    }

    private boolean bool(String name, JsonToken value, boolean absent) {
        return switch (value) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> absent;
            default -> throw bad(name, "`" + name + "` must be true or false" + but(value));
        };
    }

    private OptionalLong integer(String name, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return OptionalLong.empty();
        }
        if (value != JsonToken.VALUE_NUMBER_INT
                || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw bad(name, "`" + name + "` must be an integer" + but(value));
        }
        return OptionalLong.of(json.getLongValue());
    }

    private static void object(String name, JsonToken value) {
        if (value != JsonToken.START_OBJECT && value != JsonToken.VALUE_NULL) {
            throw bad(name, "`" + name + "` must be an object" + but(value));
        }
    }

    static String but(JsonToken value) {
        return switch (value) {
            case VALUE_STRING -> ", but it is a string.";
            case VALUE_NUMBER_INT -> ", but it is a number.";
            case VALUE_NUMBER_FLOAT -> ", but it is a number with a fraction.";
            case VALUE_TRUE, VALUE_FALSE -> ", but it is a boolean.";
            case START_ARRAY -> ", but it is an array.";
            case START_OBJECT -> ", but it is an object.";
            default -> ", but it is null.";
        };
    }

    static GatewayException bad(String param, String message) {
        return new GatewayException(new GatewayError.BadRequest(param, message));
    }

    private static String notJson(JsonProcessingException e) {
        String what = e.getOriginalMessage();
        if (what == null) {
            what = "unreadable";
        }
        what = SOURCE_NOTE.matcher(what).replaceAll("");
        if (what.length() > 200) {
            what = what.substring(0, 200) + "...";
        }
        JsonLocation at = e.getLocation();
        return "The request body is not valid JSON: "
                + what.strip()
                + (at == null
                        ? ""
                        : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")")
                + ".";
    }

    /**
     * Jackson would read UTF-16 and UTF-32 too, and then the offsets were not those of the bytes.
     */
    private static void rejectOtherEncodings(HeapBytes b) {
        boolean other =
                b.length() >= 2
                        && (b.array()[b.offset()] == 0
                                || b.array()[b.offset() + 1] == 0
                                || (b.array()[b.offset()] & 0xff) >= 0xfe);
        if (other) {
            throw bad("", "The request body must be UTF-8.");
        }
    }
}
