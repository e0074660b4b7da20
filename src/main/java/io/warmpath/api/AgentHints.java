package io.warmpath.api;

import static io.warmpath.api.RequestParser.bad;
import static io.warmpath.api.RequestParser.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.gateway.AdmissionHints;
import java.io.IOException;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Reads {@code nvext.agent_hints} and the headers that say the same. One thread. */
final class AgentHints {
    private static final String PRIORITY = "x-dynamo-request-priority";
    private static final String STRICT = "x-dynamo-request-strict-priority";
    private static final String TENANT = "x-tenant-id";
    private static final String POLICY_CLASS = "x-dynamo-meta-policy-class";

    private OptionalInt priority = OptionalInt.empty();
    private OptionalInt strict = OptionalInt.empty();
    private OptionalDouble sensitivity = OptionalDouble.empty();
    private OptionalInt outputTokens = OptionalInt.empty();
    private @Nullable String tenant;
    private @Nullable String policyClass;
    private boolean any;

    /** The current token is the value of the member {@code at}. */
    void read(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object" + but(json.currentToken()));
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            if (json.nextToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            String path = at + "." + name;
            any = true;
            switch (name) {
                case "priority" ->
                        priority = OptionalInt.of(integer(path, json, Integer.MIN_VALUE));
                case "strict_priority" -> strict = OptionalInt.of(integer(path, json, 0));
                case "osl" -> outputTokens = OptionalInt.of(integer(path, json, 0));
                case "latency_sensitivity" ->
                        sensitivity = OptionalDouble.of(OverrideReader.number(path, json, 1e6));
                default -> json.skipChildren();
            }
        }
    }

    void readHeaders(MultiMap headers) {
        priority = header(headers, PRIORITY, Integer.MIN_VALUE, priority);
        strict = header(headers, STRICT, 0, strict);
        tenant = headers.get(TENANT);
        policyClass = headers.get(POLICY_CLASS);
        any |= priority.isPresent() || strict.isPresent() || tenant != null || policyClass != null;
    }

    AdmissionHints hints() {
        return any
                ? new AdmissionHints(
                        priority, strict, sensitivity, outputTokens, tenant, policyClass)
                : AdmissionHints.NONE;
    }

    private static int integer(String path, JsonParser json, int least) throws IOException {
        JsonToken value = json.currentToken();
        if (value != JsonToken.VALUE_NUMBER_INT) {
            throw bad(path, "`" + path + "` must be an integer" + but(value));
        }
        boolean fits =
                json.getNumberType() == JsonParser.NumberType.INT && json.getIntValue() >= least;
        if (!fits) {
            throw outOfRange(path, least);
        }
        return json.getIntValue();
    }

    private static OptionalInt header(
            MultiMap headers, String name, int least, OptionalInt otherwise) {
        String value = headers.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value.strip());
            if (number >= least) {
                return OptionalInt.of(number);
            }
        } catch (NumberFormatException e) {
            throw bad(name, "The header `" + name + "` must be an integer.");
        }
        throw outOfRange(name, least);
    }

    private static RuntimeException outOfRange(String name, int least) {
        return bad(
                name,
                "`" + name + "` must be an integer in " + least + ".." + Integer.MAX_VALUE + ".");
    }
}
