package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.gateway.request.ByteRange;
import java.io.IOException;
import java.util.OptionalLong;

/**
 * Reads any body with a JSON parser; says what is wrong with one and where. A member given twice
 * counts with its last value, as the engines read it. One per request, one thread.
 */
final class JacksonReader {
    private final Endpoint endpoint;
    private final JsonParser json;
    private final RequestFields fields;
    private final PromptReader prompts;

    private JacksonReader(Endpoint endpoint, JsonParser json) {
        this.endpoint = endpoint;
        this.json = json;
        this.fields = new RequestFields();
        this.prompts = new PromptReader(json, fields);
    }

    /** Throws {@link IOException} when it is not JSON. */
    static RequestFields read(Endpoint endpoint, JsonParser json) throws IOException {
        JacksonReader reader = new JacksonReader(endpoint, json);
        reader.read();
        return reader.fields;
    }

    private void read() throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw bad("", "The request body must be a JSON object.");
        }
        fields.afterBrace = (int) json.currentLocation().getByteOffset();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            fields.empty = false;
            ByteRange at = new ByteRange(start(), start());
            JsonToken value = json.nextToken();
            member(name, at, value);
        }
        if (json.nextToken() != null) {
            throw bad("", "The request body has something behind the JSON object.");
        }
    }

    private void member(String name, ByteRange at, JsonToken value) throws IOException {
        RequestMember m = RequestMember.of(name);
        if (m == null) {
            json.skipChildren();
            return;
        }
        if (m.isForEngines() && value != JsonToken.VALUE_NULL) {
            fields.forEngines(name);
        }
        switch (m) {
            case MODEL -> {
                fields.model = text(name, value);
                fields.modelSpan = value();
            }
            case STREAM -> {
                fields.stream = bool(name, value, false);
                fields.streamSpan = value();
            }
            case STREAM_OPTIONS -> streamOptions(name, value);
            case MAX_TOKENS, MAX_COMPLETION_TOKENS ->
                    fields.mostTokens(m, value(), integer(name, value).orElse(0));
            case MIN_TOKENS -> fields.minTokensSpan = value();
            case N -> {
                integer(name, value);
                fields.answers(value == JsonToken.VALUE_NULL ? 1 : json.getLongValue());
            }
            case ECHO -> fields.echo = asks(value);
            case LOGPROBS -> fields.logprobs = asks(value);
            case PROMPT_LOGPROBS -> fields.promptLogprobs = asks(value);
            case MESSAGES -> {
                if (endpoint == Endpoint.CHAT) {
                    prompts.messages(value);
                } else {
                    json.skipChildren();
                }
            }
            case PROMPT -> {
                if (endpoint == Endpoint.COMPLETIONS) {
                    prompts.prompt(value);
                } else {
                    json.skipChildren();
                }
            }
            case INPUT -> {
                if (endpoint == Endpoint.EMBEDDINGS) {
                    prompts.input(value);
                } else {
                    json.skipChildren();
                }
            }
            case CACHE_SALT -> {
                fields.hints.bodySalt(value == JsonToken.VALUE_NULL ? "" : text(name, value));
                fields.salt = value();
            }
            case ROUTED_DP_RANK, DATA_PARALLEL_RANK -> {
                fields.hasRank |= value != JsonToken.VALUE_NULL;
                fields.hints.bodyRank(name, integer(name, value));
                if (m == RequestMember.ROUTED_DP_RANK) {
                    fields.rank = value();
                }
            }
            case PRIORITY -> fields.priority = value();
            case TEMPERATURE -> fields.temperature = value();
            case NVEXT -> {
                object(name, value);
                if (value == JsonToken.START_OBJECT) {
                    fields.hints.readNvext(json);
                }
                fields.nvext(new ByteRange(at.start(), end()));
            }
            case ADD_GENERATION_PROMPT -> fields.addGenerationPrompt = bool(name, value, true);
            case REQUEST_ID -> {
                if (value != JsonToken.VALUE_NULL) {
                    fields.requestId(endpoint);
                }
                json.skipChildren();
            }
            case VLLM_XARGS -> extraArguments(name, json, fields);
            default -> {
                if (m.hidesTokens() || m.isForTemplate()) {
                    noteUnlessEmpty(m, value);
                } else {
                    json.skipChildren();
                }
            }
        }
    }

    /** Steps over the value. */
    private boolean asks(JsonToken value) throws IOException {
        json.skipChildren();
        return value != JsonToken.VALUE_NULL && value != JsonToken.VALUE_FALSE;
    }

    private void streamOptions(String name, JsonToken value) throws IOException {
        object(name, value);
        int start = start();
        fields.includeUsage = ByteRange.ABSENT;
        if (value == JsonToken.START_OBJECT) {
            for (String key = json.nextFieldName(); key != null; key = json.nextFieldName()) {
                json.nextToken();
                if (key.equals("include_usage")) {
                    fields.includeUsage = value();
                } else {
                    json.skipChildren();
                }
            }
        }
        fields.streamOptions = new ByteRange(start, end());
    }

    /**
     * What vLLM puts beside a request's parameters, by the names that they have there. The current
     * token is its value.
     */
    static void extraArguments(String at, JsonParser json, RequestFields fields)
            throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            json.skipChildren();
            return;
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            RequestMember m = RequestMember.of(name);
            if (json.nextToken() != JsonToken.VALUE_NULL && m != null && m.isForEngines()) {
                fields.forEngines(at + "." + name);
            }
            json.skipChildren();
        }
    }

    /** The current value's bytes; steps over it. */
    private ByteRange value() throws IOException {
        int start = start();
        json.skipChildren();
        return new ByteRange(start, end());
    }

    private int start() {
        return (int) json.currentTokenLocation().getByteOffset();
    }

    private int end() throws IOException {
        json.finishToken();
        return (int) json.currentLocation().getByteOffset();
    }

    private void noteUnlessEmpty(RequestMember m, JsonToken value) throws IOException {
        boolean matters =
                switch (value) {
                    case VALUE_NULL -> false;
                    case VALUE_FALSE -> m.falseMatters();
                    case START_ARRAY ->
                            json.nextToken() != JsonToken.END_ARRAY || m.emptyListMatters();
                    case START_OBJECT -> json.nextToken() != JsonToken.END_OBJECT;
                    default -> true;
                };
        if (matters) {
            if (m.hidesTokens()) {
                fields.opaque = m.text();
            } else {
                fields.forTemplate = m.text();
            }
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
}
