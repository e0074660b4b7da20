package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.json.TokenIds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * When an answer ends and how its tokens are drawn, as the direct API writes it: what vLLM calls
 * its parameters too. One thread until it is read.
 */
public final class TokenRequest {
    /** By vLLM's name: {@link Number}, {@link Boolean}, or a list of texts or numbers. */
    private final Map<String, Object> parameters = new LinkedHashMap<>();

    /** In the order given; not to be changed. */
    public Map<String, Object> parameters() {
        return parameters;
    }

    /** The current token is the value of {@code stop_conditions}. */
    void readStop(String at, JsonParser json) throws IOException {
        read(at, json, this::stop);
    }

    /** The current token is the value of {@code sampling_options}. */
    void readSampling(String at, JsonParser json) throws IOException {
        read(at, json, this::sampling);
    }

    private interface Values {
        /** The value; null when there is no such member. */
        @Nullable Object of(String name, String path, JsonParser json) throws IOException;
    }

    private void read(String at, JsonParser json, Values values) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object" + but(json.currentToken()));
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            String path = at + "." + name;
            boolean there = json.nextToken() != JsonToken.VALUE_NULL;
            Object value = values.of(name, path, json);
            if (value == null) {
                throw InvalidRequest.unknown(path);
            }
            if (there) {
                parameters.put(name, value);
            }
        }
    }

    private @Nullable Object stop(String name, String path, JsonParser json) throws IOException {
        return switch (name) {
            case "max_tokens" -> whole(path, json, 1);
            case "min_tokens" -> whole(path, json, 0);
            case "ignore_eos" -> flag(path, json);
            case "stop" -> texts(path, json);
            case "stop_token_ids" -> ids(path, json);
            default -> null;
        };
    }

    private @Nullable Object sampling(String name, String path, JsonParser json)
            throws IOException {
        return switch (name) {
            case "temperature", "top_p", "min_p", "repetition_penalty" -> number(path, json, 0);
            case "frequency_penalty", "presence_penalty" -> number(path, json, -2);
            case "top_k" -> whole(path, json, -1);
            case "seed" -> whole(path, json, 0);
            default -> null;
        };
    }

    private static Object number(String path, JsonParser json, double least) throws IOException {
        JsonToken value = json.currentToken();
        if (value == JsonToken.VALUE_NULL) {
            return 0;
        }
        if (value != JsonToken.VALUE_NUMBER_INT && value != JsonToken.VALUE_NUMBER_FLOAT) {
            throw bad(path, "`" + path + "` must be a number" + but(value));
        }
        double number = json.getDoubleValue();
        if (!(number >= least && number <= Double.MAX_VALUE)) {
            throw bad(path, "`" + path + "` must be a number of " + (long) least + " or more.");
        }
        return number;
    }

    private static Object whole(String path, JsonParser json, long least) throws IOException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return 0;
        }
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT
                || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                || json.getLongValue() < least) {
            throw bad(path, "`" + path + "` must be an integer of " + least + " or more.");
        }
        return json.getLongValue();
    }

    private static Object flag(String path, JsonParser json) {
        JsonToken value = json.currentToken();
        if (value == JsonToken.VALUE_NULL) {
            return false;
        }
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(path, "`" + path + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }

    private static Object texts(String path, JsonParser json) throws IOException {
        List<String> texts = new ArrayList<>();
        switch (json.currentToken()) {
            case VALUE_NULL -> {}
            case VALUE_STRING -> texts.add(json.getText());
            case START_ARRAY -> {
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    if (json.currentToken() != JsonToken.VALUE_STRING) {
                        throw bad(path, "`" + path + "` must hold texts only.");
                    }
                    texts.add(json.getText());
                }
            }
            default -> throw bad(path, "`" + path + "` must be a text or an array of texts.");
        }
        return texts;
    }

    private static Object ids(String path, JsonParser json) throws IOException {
        List<Long> ids = new ArrayList<>();
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return ids;
        }
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw bad(path, "`" + path + "` must be an array" + but(json.currentToken()));
        }
        json.nextToken();
        for (int id : TokenIds.read(path, json)) {
            ids.add(Integer.toUnsignedLong(id));
        }
        return ids;
    }
}
