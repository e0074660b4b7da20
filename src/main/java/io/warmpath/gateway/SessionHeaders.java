package io.warmpath.gateway;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How clients name their sessions: Dynamo's header, then those that agents send by themselves
 * (Claude Code with one name for each sub-agent, Codex, OpenCode).
 */
final class SessionHeaders {
    static final int MAX_LENGTH = 256;

    private static final String SESSION = "x-dynamo-session-id";
    private static final String FINAL = "x-dynamo-session-final";
    private static final String CLAUDE = "x-claude-code-session-id";
    private static final String CLAUDE_AGENT = "x-claude-code-agent-id";
    private static final String[] OTHERS = {"thread-id", "x-session-id"};

    private SessionHeaders() {}

    /** As it is written, without looking whether it can be one; empty when there is none. */
    static String id(MultiMap headers) {
        String id = headers.get(SESSION);
        if (id == null) {
            id = claude(headers);
        }
        for (int i = 0; id == null && i < OTHERS.length; i++) {
            id = headers.get(OTHERS[i]);
        }
        return id == null ? "" : id.strip();
    }

    private static @Nullable String claude(MultiMap headers) {
        String session = headers.get(CLAUDE);
        String agent = headers.get(CLAUDE_AGENT);
        return session == null || agent == null ? session : session + "/" + agent;
    }

    /**
     * @throws GatewayException BadRequest when it is too long
     */
    static String checked(MultiMap headers) {
        String id = id(headers);
        if (id.length() > MAX_LENGTH) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            SESSION,
                            "A session id has at most "
                                    + MAX_LENGTH
                                    + " characters; this one has "
                                    + id.length()
                                    + "."));
        }
        return id;
    }

    /**
     * Whether no more turns will come.
     *
     * @throws GatewayException BadRequest when it says neither
     */
    static boolean last(MultiMap headers) {
        String given = headers.get(FINAL);
        if (given == null) {
            return false;
        }
        return switch (given.strip().toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0", "" -> false;
            default ->
                    throw new GatewayException(
                            new GatewayError.BadRequest(
                                    FINAL, "The header `" + FINAL + "` must be true or false."));
        };
    }
}
