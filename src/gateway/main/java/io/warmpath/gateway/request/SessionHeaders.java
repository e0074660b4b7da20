package io.warmpath.gateway.request;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.session.SessionKey;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How clients name their sessions: Dynamo's header, then those that agents send by themselves
 * (Claude Code with one name for each sub-agent, Codex, OpenCode), then {@code
 * nvext.agent_context}.
 */
public final class SessionHeaders {
    static final int MAX_LENGTH = 256;

    private static final String SESSION = "x-dynamo-session-id";
    private static final String FINAL = "x-dynamo-session-final";
    private static final String CLAUDE = "x-claude-code-session-id";
    private static final String CLAUDE_AGENT = "x-claude-code-agent-id";
    private static final String[] OTHERS = {"thread-id", "x-session-id"};
    private static final String PARENT = "x-dynamo-parent-session-id";
    private static final String CLAUDE_PARENT = "x-claude-code-parent-agent-id";
    private static final String[] OTHER_PARENTS = {
        "x-codex-parent-thread-id", "x-parent-session-id"
    };

    private SessionHeaders() {}

    /** As it is written, without looking whether it can be one; empty when there is none. */
    public static String id(InferenceRequest request) {
        MultiMap headers = request.headers();
        String id = headers.get(SESSION);
        if (id == null) {
            id = claude(headers, headers.get(CLAUDE_AGENT));
        }
        return first(id, headers, OTHERS, request.hints().agent().session());
    }

    /** The key of the session with that name: model and tenant separate it from others. */
    public static SessionKey key(InferenceRequest request, String id) {
        return new SessionKey(new SessionKey.Scope(request.model(), request.salt().value()), id);
    }

    /** The session of whoever has called this one's agent; empty when that is not said. */
    public static String parent(InferenceRequest request) {
        MultiMap headers = request.headers();
        String id = headers.get(PARENT);
        if (id == null && headers.contains(CLAUDE_AGENT)) {
            id = claude(headers, headers.get(CLAUDE_PARENT));
        }
        return first(id, headers, OTHER_PARENTS, request.hints().agent().parent());
    }

    private static String first(
            @Nullable String known, MultiMap headers, String[] names, String otherwise) {
        String id = known;
        for (int i = 0; id == null && i < names.length; i++) {
            id = headers.get(names[i]);
        }
        return id == null ? otherwise : id.strip();
    }

    private static @Nullable String claude(MultiMap headers, @Nullable String agent) {
        String session = headers.get(CLAUDE);
        return session == null || agent == null ? session : session + "/" + agent;
    }

    /**
     * @throws GatewayException BadRequest when it is too long
     */
    public static String checked(InferenceRequest request) {
        String id = id(request);
        if (id.length() > MAX_LENGTH) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            SESSION,
                            "A session id has at most %s characters; this one has %s."
                                    .formatted(MAX_LENGTH, id.length())));
        }
        return id;
    }

    /**
     * Whether no more turns will come.
     *
     * @throws GatewayException BadRequest when it says neither
     */
    public static boolean last(InferenceRequest request) {
        String given = request.headers().get(FINAL);
        if (given == null) {
            return request.hints().agent().last();
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
