package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.warmpath.api.json.TokenIds;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.request.Prefiller;
import io.warmpath.gateway.request.RequestHints;
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
public final class RoutingHints {
    private static final String TENANT = "x-tenant-id";

    private int @Nullable [] tokens;
    private RouterOverrides overrides = RouterOverrides.NONE;
    private final AgentHints agent = new AgentHints();
    private final SessionHints sessions = new SessionHints();
    private final ExtrasReader extras = new ExtrasReader();
    private final WorkerPin pin = new WorkerPin();
    private final TaintReader taints = new TaintReader();
    private @Nullable String bodySalt;
    private @Nullable String nvextSalt;
    private @Nullable String headerSalt;
    private @Nullable String prefillers;

    public void bodySalt(String salt) {
        bodySalt = salt;
    }

    public void bodyRank(String name, OptionalLong rank) {
        pin.bodyRank(name, rank);
    }

    /** The current token is the object's start. */
    public void readNvext(JsonParser json) throws IOException {
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
                    tokens = TokenIds.read(at, json);
                }
                case "cache_salt" -> nvextSalt = NvextValues.text(at, json);
                case "router_config_override" -> overrides = OverrideReader.read(at, json);
                case "agent_hints" -> agent.read(at, json);
                case "session_control" -> sessions.readSession(at, json);
                case "cache_control" -> sessions.readCache(at, json);
                case "agent_context" -> sessions.readAgent(at, json);
                case "tolerations", "required_taints", "preferred_taints" ->
                        taints.read(name, at, json);
                default -> {
                    if (!pin.read(name, at, json)) {
                        extras.read(name, at, json);
                    }
                }
            }
        }
    }

    public void readHeaders(MultiMap headers, Objectives objectives) {
        agent.readHeaders(headers, objectives);
        taints.readHeaders(headers);
        pin.readHeaders(headers);
        prefillers = headers.get(Prefiller.HEADER);
        headerSalt = headers.get(TENANT);
    }

    public int @Nullable [] tokens() {
        return tokens;
    }

    public RouterOverrides overrides() {
        return overrides;
    }

    public TaintRules taints() {
        return taints.rules();
    }

    /** {@code nearer}: what it says wins. */
    public TaintRules taints(TaintReader nearer) {
        return nearer.or(taints).rules();
    }

    public RequestHints hints() {
        return agent.hints(sessions, extras);
    }

    public OptionalLong worker() {
        return pin.worker();
    }

    public OptionalInt rank() {
        return pin.rank();
    }

    /** Who computes the prompt for another one. */
    public Prefiller prefiller() {
        return Prefiller.of(pin.prefiller(), prefillers);
    }

    /** Empty when there is none. */
    public String salt() {
        String salt = headerSalt != null ? headerSalt : nvextSalt != null ? nvextSalt : bodySalt;
        return salt == null ? "" : salt;
    }

    /** The salt, when the body's top level does not say it already. */
    public @Nullable String saltToSend() {
        String salt = salt();
        return salt.isEmpty() || salt.equals(bodySalt) ? null : salt;
    }

    /** The client asks for the decision's reasons. */
    public static boolean wantsExplanation(MultiMap headers) {
        return "1".equals(headers.get("x-warmpath-explain"));
    }
}
