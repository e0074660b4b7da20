package io.warmpath.gateway.request;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.buffer.Buffer;
import io.warmpath.gateway.request.BodyMembers.Member;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where an engine of vLLM's that decodes fetches a prompt's KV cache, in the words of the one that
 * has computed it (NIXL; src/docs/disaggregation.md). Immutable.
 *
 * <p>Nothing at the engine checks it: a part that is missing ends the engine, a cache that was
 * given up meanwhile is read all the same. So it is looked at here, goes to one engine, and at
 * once.
 */
public final class HandOff {
    static final String MEMBER = "kv_transfer_params";

    /** Asks for one. */
    static final String WANTED =
            "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
                    + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}";

    private static final List<String> TEXTS =
            List.of("remote_engine_id", "remote_request_id", "remote_host");

    private final byte[] json;

    private HandOff(byte[] json) {
        this.json = json;
    }

    /**
     * @param answer of the engine that has computed the prompt
     * @return null: it names nothing to fetch; what was computed is found by its content, or not at
     *     all
     */
    public static @Nullable HandOff of(byte[] answer) {
        try {
            Member member = BodyMembers.of(answer).get(MEMBER);
            if (member == null || member.isNull()) {
                return null;
            }
            byte[] json = new byte[member.end() - member.start()];
            System.arraycopy(answer, member.start(), json, 0, json.length);
            return isWhole(GatewayJson.tree(new String(json, StandardCharsets.UTF_8)))
                    ? new HandOff(json)
                    : null;
        } catch (IOException e) {
            return null; // an answer that is no JSON names nothing either
        }
    }

    private static boolean isWhole(JsonNode params) {
        return params.path("do_remote_prefill").asBoolean(false)
                && TEXTS.stream().allMatch(t -> params.path(t).isTextual())
                && params.path("remote_port").isIntegralNumber()
                && params.path("tp_size").isIntegralNumber()
                && params.path("remote_block_ids").isArray()
                && !params.path("remote_block_ids").isEmpty();
    }

    /**
     * @param body a JSON object with at least one member
     */
    public Buffer into(Buffer body) {
        int brace = body.length() - 1;
        while (body.getByte(brace) != '}') {
            brace--;
        }
        return Buffer.buffer(body.length() + json.length + MEMBER.length() + 4)
                .appendBuffer(body, 0, brace)
                .appendString(",\"" + MEMBER + "\":")
                .appendBytes(json)
                .appendBuffer(body, brace, body.length() - brace);
    }
}
