package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.session.AgentContext;
import io.warmpath.session.PinRequest;
import io.warmpath.session.SessionControl;
import io.warmpath.session.SessionControl.Action;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * {@code nvext.session_control}, {@code nvext.cache_control} and {@code nvext.agent_context}.
 * Unknown members are stepped over, null is as if not there. One per request, one thread.
 */
final class SessionHints {
    /** Two of them make one id. */
    private static final int MAX_PART = (SessionControl.MAX_ID - 1) / 2;

    private @Nullable SessionControl session;
    private @Nullable PinRequest pin;
    private AgentContext agent = AgentContext.NONE;

    @Nullable SessionControl session() {
        return session;
    }

    @Nullable PinRequest pin() {
        return pin;
    }

    AgentContext agent() {
        return agent;
    }

    /** The current token is the value of the member {@code within}. */
    void readSession(String within, JsonParser json) throws IOException {
        NvextValues.object(within, json);
        String id = null;
        Action action = Action.CONTINUE;
        int timeout = SessionControl.DEFAULT_TIMEOUT_SECONDS;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            String at = within + "." + name;
            if (value == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (name) {
                case "session_id" -> id = id(at, NvextValues.text(at, json));
                case "action" -> action = action(at, NvextValues.text(at, json));
                case "timeout" -> timeout = timeout(at, value, json);
                default -> json.skipChildren();
            }
        }
        if (id == null) {
            String at = within + ".session_id";
            throw bad(at, "`" + at + "` is missing: it names the session.");
        }
        session = new SessionControl(id, action, timeout);
    }

    private static String id(String at, String id) {
        if (id.isBlank() || id.length() > SessionControl.MAX_ID) {
            throw bad(
                    at,
                    "`"
                            + at
                            + "` must have 1 to "
                            + SessionControl.MAX_ID
                            + " characters; this one has "
                            + id.length()
                            + ".");
        }
        return id;
    }

    private static Action action(String at, String action) {
        return switch (action) {
            case "open" -> Action.OPEN;
            case "bind" -> Action.BIND;
            case "close" -> Action.CLOSE;
            default ->
                    throw bad(
                            at,
                            "`"
                                    + at
                                    + "` must be open, bind or close; a turn in between has none.");
        };
    }

    private static int timeout(String at, JsonToken value, JsonParser json) throws IOException {
        if (value != JsonToken.VALUE_NUMBER_INT) {
            throw bad(at, "`" + at + "` must be an integer, in seconds" + but(value));
        }
        boolean fits = json.getNumberType() == JsonParser.NumberType.INT;
        int seconds = fits ? json.getIntValue() : 0;
        if (seconds < 1 || seconds > SessionControl.MAX_TIMEOUT_SECONDS) {
            throw bad(
                    at,
                    "`"
                            + at
                            + "` must be in 1.."
                            + SessionControl.MAX_TIMEOUT_SECONDS
                            + " (seconds).");
        }
        return seconds;
    }

    /** The current token is the value of the member {@code within}. */
    void readCache(String within, JsonParser json) throws IOException {
        NvextValues.object(within, json);
        String type = null;
        PinRequest asked = new PinRequest(PinRequest.MIN_TTL_SECONDS);
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            String at = within + "." + name;
            if (value == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (name) {
                case "type" -> type = NvextValues.text(at, json);
                case "ttl" -> asked = ttl(at, value, json);
                default -> json.skipChildren();
            }
        }
        if (!"ephemeral".equals(type)) {
            String at = within + ".type";
            throw bad(at, "`" + at + "` must be \"ephemeral\", the only type there is.");
        }
        pin = asked;
    }

    private static PinRequest ttl(String at, JsonToken value, JsonParser json) throws IOException {
        return switch (value) {
            case VALUE_STRING -> PinRequest.of(json.getText());
            case VALUE_NUMBER_INT ->
                    // Digits, so that a number no long holds is a long time, too.
                    PinRequest.of(json.getText());
            default ->
                    throw bad(
                            at,
                            "`"
                                    + at
                                    + "` must be seconds or a text such as \"5m\" or \"1h\""
                                    + but(value));
        };
    }

    /** The current token is the value of the member {@code within}. */
    void readAgent(String within, JsonParser json) throws IOException {
        NvextValues.object(within, json);
        String session = "";
        String trajectory = "";
        String parent = "";
        boolean last = false;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            String at = within + "." + name;
            if (json.nextToken() == JsonToken.VALUE_NULL) {
                continue;
            }
            switch (name) {
                case "session_id" -> session = name(at, json);
                case "trajectory_id" -> trajectory = name(at, json);
                case "parent_trajectory_id" -> parent = name(at, json);
                case "session_type_id" -> name(at, json);
                case "trajectory_final" -> last = NvextValues.flag(at, json);
                default -> json.skipChildren();
            }
        }
        agent =
                new AgentContext(
                        joined(session, trajectory),
                        parent.isEmpty() ? "" : joined(session, parent),
                        last);
    }

    private static String name(String at, JsonParser json) throws IOException {
        return NvextValues.text(at, json, MAX_PART).strip();
    }

    /** The agents of one session are sessions of their own. */
    private static String joined(String session, String trajectory) {
        return session.isEmpty() || trajectory.isEmpty()
                ? session + trajectory
                : session + "/" + trajectory;
    }
}
