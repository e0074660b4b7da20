package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.TaintRules;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a client makes of workers' taints: {@code nvext.tolerations}, {@code nvext.required_taints}
 * and {@code nvext.preferred_taints}; headers of the first two win. One thread.
 */
public final class TaintReader {
    private static final String TOLERATIONS = "x-warmpath-tolerations";
    private static final String REQUIRED = "x-warmpath-required-taints";

    /** Bounds the work of a decision. */
    private static final int MOST = 64;

    private static final double MOST_WEIGHT = 1e6;

    private List<TaintMatch> tolerated = List.of();
    private List<TaintMatch> required = List.of();
    private Map<TaintMatch, Double> preferred = Map.of();

    /** The current token is the value of one of the three. */
    public void read(String name, String at, JsonParser json) throws IOException {
        switch (name) {
            case "tolerations" -> tolerated = list(at, json);
            case "required_taints" -> required = list(at, json);
            case "preferred_taints" -> preferred(at, json);
            default -> throw new IllegalArgumentException(name);
        }
    }

    /** An object of weights, negative ones for what is rather avoided. */
    private void preferred(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object of weights" + but(json.currentToken()));
        }
        Map<TaintMatch, Double> read = new LinkedHashMap<>();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            if (!json.nextToken().isNumeric()
                    || !(Math.abs(json.getDoubleValue()) <= MOST_WEIGHT)) {
                throw bad(at, "`" + at + "." + name + "` must be a number, at most 1000000.");
            }
            read.put(match(at, name), json.getDoubleValue());
            checkSize(at, read.size());
        }
        preferred = read;
    }

    void readHeaders(MultiMap headers) {
        tolerated = header(TOLERATIONS, headers.get(TOLERATIONS), tolerated);
        required = header(REQUIRED, headers.get(REQUIRED), required);
    }

    /** What is not said here is as the other says. */
    TaintReader or(TaintReader other) {
        TaintReader both = new TaintReader();
        both.tolerated = tolerated.isEmpty() ? other.tolerated : tolerated;
        both.required = required.isEmpty() ? other.required : required;
        both.preferred = preferred.isEmpty() ? other.preferred : preferred;
        return both;
    }

    TaintRules rules() {
        return tolerated.isEmpty() && required.isEmpty() && preferred.isEmpty()
                ? TaintRules.NONE
                : new TaintRules(tolerated, required, preferred);
    }

    private static List<TaintMatch> list(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw bad(at, "`" + at + "` must be an array of strings" + but(json.currentToken()));
        }
        List<TaintMatch> read = new ArrayList<>();
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t != JsonToken.VALUE_STRING) {
                throw bad(at, "`" + at + "` must be an array of strings" + but(t));
            }
            read.add(match(at, json.getText()));
            checkSize(at, read.size());
        }
        return read;
    }

    private static List<TaintMatch> header(
            String name, @Nullable String given, List<TaintMatch> otherwise) {
        if (given == null) {
            return otherwise;
        }
        List<TaintMatch> read = new ArrayList<>();
        for (String text : given.split(",", -1)) {
            if (!text.isBlank()) {
                read.add(match(name, text));
                checkSize(name, read.size());
            }
        }
        return read;
    }

    private static void checkSize(String at, int size) {
        if (size > MOST) {
            throw bad(at, "`" + at + "` names more than " + MOST + " taints.");
        }
    }

    private static TaintMatch match(String at, String text) {
        try {
            return TaintMatch.parse(text);
        } catch (IllegalArgumentException e) {
            throw bad(at, "In `" + at + "`: " + e.getMessage() + ".");
        }
    }
}
