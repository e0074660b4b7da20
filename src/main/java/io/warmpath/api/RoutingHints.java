package io.warmpath.api;

import static io.warmpath.api.RequestParser.bad;
import static io.warmpath.api.RequestParser.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.gateway.RequestHints;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.TaintRules;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the client says about routing: in headers, in {@code nvext}, in top-level members. A header
 * wins over {@code nvext}, which wins over the top level.
 */
final class RoutingHints {
    private static final String[] WORKER = {"x-dynamo-worker-instance-id", "x-worker-instance-id"};
    private static final String[] RANK = {"x-dynamo-dp-rank", "x-dp-rank", "x-data-parallel-rank"};
    private static final String TENANT = "x-tenant-id";

    private int @Nullable [] tokens;
    private RouterOverrides overrides = RouterOverrides.NONE;
    private final AgentHints agent = new AgentHints();
    private final SessionHints sessions = new SessionHints();
    private final TaintReader taints = new TaintReader();
    private @Nullable Long nvextWorker;
    private @Nullable Long headerWorker;
    private @Nullable Integer bodyRank;
    private @Nullable Integer nvextRank;
    private @Nullable Integer headerRank;
    private @Nullable String bodySalt;
    private @Nullable String nvextSalt;
    private @Nullable String headerSalt;

    void bodySalt(String salt) {
        bodySalt = salt;
    }

    void bodyRank(String name, OptionalLong rank) {
        bodyRank = rank.isEmpty() ? null : (Integer) rank(name, rank.getAsLong());
    }

    /** The current token is the object's start. */
    void readNvext(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            if (value == JsonToken.VALUE_NULL) {
                continue;
            }
            String at = "nvext." + name;
            switch (name) {
                case "token_data" -> {
                    if (value != JsonToken.START_ARRAY) {
                        throw bad(at, "`" + at + "` must be an array of token ids" + but(value));
                    }
                    json.nextToken();
                    tokens = PromptReader.ids(at, json);
                }
                case "backend_instance_id" -> {
                    if (value != JsonToken.VALUE_NUMBER_INT) {
                        throw bad(at, "`" + at + "` must be an integer" + but(value));
                    }
                    nvextWorker = workerId(at, json.getText());
                }
                case "dp_rank" -> {
                    if (value != JsonToken.VALUE_NUMBER_INT
                            || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                        throw bad(at, "`" + at + "` must be an integer" + but(value));
                    }
                    nvextRank = rank(at, json.getLongValue());
                }
                case "cache_salt" -> {
                    if (value != JsonToken.VALUE_STRING) {
                        throw bad(at, "`" + at + "` must be a string" + but(value));
                    }
                    nvextSalt = json.getText();
                }
                case "router_config_override" -> overrides = OverrideReader.read(at, json);
                case "agent_hints" -> agent.read(at, json);
                case "session_control" -> sessions.readSession(at, json);
                case "cache_control" -> sessions.readCache(at, json);
                case "tolerations", "required_taints", "preferred_taints" ->
                        taints.read(name, at, json);
                default -> json.skipChildren();
            }
        }
    }

    void readHeaders(MultiMap headers) {
        agent.readHeaders(headers);
        taints.readHeaders(headers);
        for (String name : WORKER) {
            String value = headers.get(name);
            if (value != null) {
                headerWorker = workerId(name, value.strip());
                break;
            }
        }
        for (String name : RANK) {
            String value = headers.get(name);
            if (value != null) {
                try {
                    headerRank = rank(name, Long.parseLong(value.strip()));
                } catch (NumberFormatException e) {
                    throw bad(name, "The header `" + name + "` must be an integer.");
                }
                break;
            }
        }
        headerSalt = headers.get(TENANT);
        if (headerRank != null && bodyRank != null && !headerRank.equals(bodyRank)) {
            throw bad(
                    "routed_dp_rank",
                    "The body asks for dp rank "
                            + bodyRank
                            + " and a header for "
                            + headerRank
                            + "; give one of them.");
        }
    }

    int @Nullable [] tokens() {
        return tokens;
    }

    RouterOverrides overrides() {
        return overrides;
    }

    TaintRules taints() {
        return taints.rules();
    }

    /**
     * @param nearer what it says wins
     */
    TaintRules taints(TaintReader nearer) {
        return nearer.or(taints).rules();
    }

    RequestHints hints() {
        return agent.hints(sessions.session(), sessions.pin());
    }

    OptionalLong worker() {
        Long id = headerWorker != null ? headerWorker : nvextWorker;
        return id == null ? OptionalLong.empty() : OptionalLong.of(id);
    }

    OptionalInt rank() {
        Integer rank = headerRank;
        if (rank == null) {
            // The engine reads the body's own member, so that one binds before nvext.
            rank = bodyRank != null ? bodyRank : nvextRank;
        }
        return rank == null ? OptionalInt.empty() : OptionalInt.of(rank);
    }

    /** Empty when there is none. */
    String salt() {
        String salt = headerSalt != null ? headerSalt : nvextSalt != null ? nvextSalt : bodySalt;
        return salt == null ? "" : salt;
    }

    /** The salt, when the body's top level does not say it already. */
    @Nullable String saltToSend() {
        String salt = salt();
        return salt.isEmpty() || salt.equals(bodySalt) ? null : salt;
    }

    private static long workerId(String name, String digits) {
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw bad(name, "`" + name + "` must be an integer in 0..18446744073709551615.");
        }
    }

    private static int rank(String name, long rank) {
        if (rank < 0 || rank > Integer.MAX_VALUE) {
            throw bad(name, "`" + name + "` must be an integer of 0 or more.");
        }
        return (int) rank;
    }
}
