package io.warmpath.gateway.pin;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.gateway.request.GatewayJson;

/**
 * What is said to engines about pins, and what they answer. Stateless. The route takes {@code
 * {"token_ids": [...], "ttl_seconds": N}} and answers {@code {"status": "ok", "nodes_pinned": N}},
 * or another status with a reason. The envelope {@code kv_hints} rides in a request over the
 * prefix; it has no answer of its own.
 */
final class PinMessages {
    private static final String PROTOCOL = "0.1";
    private static final int MAX_WORDS = 200;

    /** How a worker took it. */
    sealed interface Answer {
        record Granted(int nodes, String said) implements Answer {}

        record Refused(String why) implements Answer {}

        /** There is no such route. */
        record Absent() implements Answer {}

        /** It may go well another time. */
        record Failed(String why) implements Answer {}
    }

    private PinMessages() {}

    /**
     * @param salt of the cache, empty when there is none; engines that know of none pass it over
     */
    static String pin(int[] ids, int ttlSeconds, String salt) {
        StringBuilder b = new StringBuilder(64 + 6 * ids.length).append("{\"token_ids\":");
        GatewayJson.array(ids, b);
        b.append(",\"ttl_seconds\":").append(ttlSeconds);
        if (!salt.isEmpty()) {
            b.append(",\"cache_salt\":").append(GatewayJson.quoted(salt));
        }
        return b.append('}').toString();
    }

    /** A member of a request's body, with the comma before it. */
    static String kvHints(String message, int ttlSeconds) {
        return ",\"kv_hints\":{\"protocol_version\":\""
                + PROTOCOL
                + "\",\"message_id\":"
                + GatewayJson.quoted(message)
                + ",\"actions\":[{\"action_id\":\"0\",\"action_type\":\"Pin\",\"action_version\":\""
                + PROTOCOL
                + "\",\"payload\":{\"ttl_seconds\":"
                + ttlSeconds
                + "}}]}";
    }

    /** Of the route. */
    static Answer ofPin(SidePost.Reply reply) {
        int status = reply.status();
        if (status == 404 || status == 405 || status == 501) {
            return new Answer.Absent();
        }
        if (mayPass(status)) {
            return new Answer.Failed(why(reply));
        }
        JsonNode said = GatewayJson.tree(reply.text());
        if (!said.isObject()) {
            return new Answer.Refused(status == 200 ? "not JSON: " + reply.text() : why(reply));
        }
        if (status != 200 || !"ok".equals(said.path("status").textValue())) {
            return new Answer.Refused(words(said, reply.text()));
        }
        JsonNode pinned = said.path("nodes_pinned");
        int nodes = pinned.isNumber() ? pinned.intValue() : -1;
        return nodes == 0
                ? new Answer.Refused(words(said, "nothing of it is in its cache any more"))
                : new Answer.Granted(Math.max(0, nodes), words(said, ""));
    }

    /** Of a request that the envelope rode in. */
    static Answer ofRequest(SidePost.Reply reply) {
        if (reply.status() == 200) {
            return new Answer.Granted(0, "");
        }
        return mayPass(reply.status())
                ? new Answer.Failed(why(reply))
                : new Answer.Refused(why(reply));
    }

    private static boolean mayPass(int status) {
        return status == 0 || status == 408 || status == 429 || status >= 500;
    }

    private static String why(SidePost.Reply reply) {
        return reply.status() == 0 ? reply.text() : reply.status() + ": " + reply.text();
    }

    /** In the member that builds have had for it; why not before all else. */
    private static String words(JsonNode said, String otherwise) {
        if (said.path("error").isObject()) {
            return words(said.path("error"), otherwise);
        }
        for (String name : new String[] {"reject_reason", "reason", "message", "error"}) {
            String text = said.path(name).asText("");
            if (said.path(name).isTextual() && !text.isEmpty()) {
                return text.length() > MAX_WORDS ? text.substring(0, MAX_WORDS) : text;
            }
        }
        return otherwise;
    }
}
