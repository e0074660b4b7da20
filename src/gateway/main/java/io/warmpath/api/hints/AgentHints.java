package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.request.RequestHints;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * {@code nvext.agent_hints} and the headers that say the same, or name an objective; a header wins.
 * {@code latency_sensitivity} is the old name of {@code priority} and counts when that is not
 * given.
 */
final class AgentHints {
    private static final String PRIORITY = "x-dynamo-request-priority";
    private static final String STRICT = "x-dynamo-request-strict-priority";

    /** Names of an objective, the newer one first. */
    private static final String[] OBJECTIVE = {
        "x-llm-d-inference-objective", "x-gateway-inference-objective"
    };

    private static final String CLASS = "x-dynamo-meta-policy-class";

    private @Nullable Integer priority;
    private @Nullable Double sensitivity;
    private int strict;
    private int output;
    private boolean prefill;
    private String policyClass = "";

    /** The current token is the value of the member {@code within}. */
    void read(String within, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(within, "`" + within + "` must be an object" + but(json.currentToken()));
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            if (value == JsonToken.VALUE_NULL) {
                continue;
            }
            String at = within + "." + name;
            switch (name) {
                case "priority" -> priority = whole(at, json, value, Integer.MIN_VALUE);
                case "strict_priority" -> strict = whole(at, json, value, 0);
                case "osl" -> output = whole(at, json, value, 0);
                case "speculative_prefill" -> prefill = NvextValues.flag(at, json);
                case "latency_sensitivity" -> {
                    if (!value.isNumeric() || !Double.isFinite(json.getDoubleValue())) {
                        throw bad(at, "`" + at + "` must be a number" + but(value));
                    }
                    sensitivity = json.getDoubleValue();
                }
                default -> json.skipChildren();
            }
        }
    }

    /** {@code objectives}: what is known of a name wins over a number. */
    void readHeaders(MultiMap headers, Objectives objectives) {
        String given = headers.get(PRIORITY);
        if (given != null) {
            priority = whole(PRIORITY, given, Integer.MIN_VALUE);
        }
        if (objectives != Objectives.NONE) {
            readObjective(headers, objectives);
        }
        given = headers.get(STRICT);
        if (given != null) {
            strict = whole(STRICT, given, 0);
        }
        given = headers.get(CLASS);
        if (given != null) {
            policyClass = given.strip();
        }
    }

    private void readObjective(MultiMap headers, Objectives objectives) {
        for (String name : OBJECTIVE) {
            String given = headers.get(name);
            if (given != null) {
                Integer known = objectives.priority(given.strip());
                priority = known == null ? priority : known;
                return;
            }
        }
    }

    /** Together with what is said beside them. */
    RequestHints hints(SessionHints sessions, ExtrasReader extras) {
        Double jump = priority != null ? (Double) priority.doubleValue() : sensitivity;
        RequestHints said =
                new RequestHints(
                        jump == null ? 0 : jump,
                        strict,
                        output,
                        policyClass,
                        prefill,
                        priority,
                        sessions.session(),
                        sessions.pin(),
                        sessions.agent(),
                        extras.greedy(),
                        extras.extras());
        return said.equals(RequestHints.NONE) ? RequestHints.NONE : said;
    }

    private static int whole(String at, JsonParser json, JsonToken value, int min)
            throws IOException {
        if (value != JsonToken.VALUE_NUMBER_INT
                || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw bad(at, "`" + at + "` must be an integer" + but(value));
        }
        return within(at, json.getLongValue(), min);
    }

    private static int whole(String name, String given, int min) {
        try {
            return within(name, Long.parseLong(given.strip()), min);
        } catch (NumberFormatException e) {
            throw bad(name, "The header `" + name + "` must be an integer.");
        }
    }

    private static int within(String name, long n, int min) {
        if (n < min || n > Integer.MAX_VALUE) {
            throw bad(name, "`" + name + "` must be in " + min + ".." + Integer.MAX_VALUE + ".");
        }
        return (int) n;
    }
}
