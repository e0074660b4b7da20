package io.warmpath.api.messages;

import static io.warmpath.api.error.InvalidRequest.bad;

import io.warmpath.api.json.JsonTree;
import io.warmpath.session.PinRequest;
import io.warmpath.session.SessionControl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a body of Anthropic's API says in its own words of caches and sessions, as {@code nvext}.
 * What the client's own {@code nvext} says of the same wins. One per request, one thread.
 */
final class MessagesHints {
    /** How Claude Code writes its user: a device, an account, and the session. */
    private static final Pattern SESSION_BEHIND = Pattern.compile("_session_([0-9A-Za-z-]{8,64})$");

    private @Nullable PinRequest pin;
    private String session = "";

    /** A block, a tool or the body itself, which may ask to be cached: the longest time counts. */
    void cached(JsonMembers block) {
        JsonMembers control = block.object("cache_control");
        if (control == null) {
            return;
        }
        if (!control.requiredText("type").equals("ephemeral")) {
            throw bad(
                    control.path("type"),
                    "`"
                            + control.path("type")
                            + "` must be \"ephemeral\", the only type there is.");
        }
        PinRequest asked =
                switch (control.all().get("ttl")) {
                    case null -> new PinRequest(PinRequest.MIN_TTL_SECONDS);
                    case String ttl -> PinRequest.of(ttl);
                    case Integer seconds -> PinRequest.of(seconds);
                    case Long seconds -> PinRequest.of(seconds);
                    default ->
                            throw bad(
                                    control.path("ttl"),
                                    "`" + control.path("ttl") + "` must be \"5m\" or \"1h\".");
                };
        pin = pin == null ? asked : pin.orLonger(asked);
    }

    /** Claude Code's name for its user holds its session; other names are no sessions. */
    void user(String id) {
        Matcher behind = SESSION_BEHIND.matcher(id);
        if (behind.find()) {
            session = behind.group(1);
        } else if (id.startsWith("{")) {
            try {
                byte[] json = id.getBytes(StandardCharsets.UTF_8);
                if (JsonTree.object(json, 0, json.length).get("session_id") instanceof String s) {
                    session = s;
                }
            } catch (IOException e) {
                session = ""; // somebody's name that begins with a brace
            }
        }
        if (session.length() > SessionControl.MAX_ID / 2 - 1) {
            session = "";
        }
    }

    /**
     * @param given the client's own {@code nvext}: what is no object is refused where it is read
     */
    @Nullable Object nvext(@Nullable Object given) {
        boolean nothing = pin == null && session.isEmpty();
        if (nothing || (given != null && !(given instanceof Map<?, ?>))) {
            return given;
        }
        Map<Object, @Nullable Object> all = new LinkedHashMap<>();
        if (given instanceof Map<?, ?> members) {
            all.putAll(members);
        }
        if (pin != null) {
            all.putIfAbsent(
                    "cache_control",
                    MessagesRequest.members("type", "ephemeral", "ttl", pin.ttlSeconds()));
        }
        if (!session.isEmpty()) {
            all.putIfAbsent("agent_context", Map.of("session_id", session));
        }
        return all;
    }
}
