package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.routing.RouterOverrides;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads {@code router_config_override}. One thread. */
public final class OverrideReader {
    /** As of the gateway's own keys; keeps every cost finite. */
    private static final double MOST = 1e6;

    private @Nullable Double credit;
    private @Nullable Double scale;
    private @Nullable Double weight;
    private @Nullable Double shared;
    private @Nullable Double temperature;
    private @Nullable Boolean reuse;
    private @Nullable Boolean prefill;

    private OverrideReader() {}

    /** The current token is the value of the member {@code at}; unknown members are ignored. */
    public static RouterOverrides read(String at, JsonParser json) throws IOException {
        return read(at, json, false);
    }

    /** {@code strict}: an unknown member is an error. */
    public static RouterOverrides read(String at, JsonParser json, boolean strict)
            throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object" + but(json.currentToken()));
        }
        OverrideReader r = new OverrideReader();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            String path = at + "." + name;
            json.nextToken();
            switch (name) {
                case "overlap_score_credit" -> r.credit = numberOrNull(path, json, MOST);
                case "prefill_load_scale" -> r.scale = numberOrNull(path, json, MOST);
                case "overlap_score_weight" -> r.weight = numberOrNull(path, json, MOST);
                case "shared_cache_multiplier" -> r.shared = numberOrNull(path, json, 1);
                case "router_temperature" -> r.temperature = numberOrNull(path, json, MOST);
                case "assume_kv_reuse" -> r.reuse = bool(path, json);
                case "track_prefill_tokens" -> r.prefill = bool(path, json);
                default -> {
                    if (strict) {
                        throw InvalidRequest.unknown(path);
                    }
                    json.skipChildren();
                }
            }
        }
        RouterOverrides read =
                new RouterOverrides(
                        r.credit, r.scale, r.weight, r.shared, r.temperature, r.reuse, r.prefill);
        return read.equals(RouterOverrides.NONE) ? RouterOverrides.NONE : read;
    }

    /** A number from 0 to {@code max}. */
    public static double number(String path, JsonParser json, double max) throws IOException {
        JsonToken value = json.currentToken();
        if (value != JsonToken.VALUE_NUMBER_INT && value != JsonToken.VALUE_NUMBER_FLOAT) {
            throw bad(path, "`" + path + "` must be a number" + but(value));
        }
        double number = json.getDoubleValue();
        if (!(number >= 0 && number <= max)) {
            throw bad(path, "`" + path + "` must be a number from 0 to " + (long) max + ".");
        }
        return number;
    }

    private static @Nullable Double numberOrNull(String path, JsonParser json, double max)
            throws IOException {
        return json.currentToken() == JsonToken.VALUE_NULL
                ? null
                : (Double) number(path, json, max);
    }

    private static @Nullable Boolean bool(String path, JsonParser json) {
        JsonToken value = json.currentToken();
        if (value == JsonToken.VALUE_NULL) {
            return null;
        }
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(path, "`" + path + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }
}
