package io.warmpath.gateway.request;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.buffer.Buffer;
import io.warmpath.gateway.request.BodyMembers.Member;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where an engine of vLLM's that decodes fetches a prompt's KV cache, in the words of the one that
 * has computed it (NIXL; src/docs/how-to/disaggregation.md). Immutable. Nothing at the engine
 * checks it: a part that is missing ends the engine, a cache that was given up meanwhile is read
 * all the same. So it is looked at here, goes to one engine, and at once.
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

    /** Where both engines are asked at once: the word for the one that prefills. */
    static String of(Half.Offer offer) {
        return "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"transfer_id\":"
                + GatewayJson.quoted(offer.transfer())
                + '}';
    }

    /** The same for the one that decodes. */
    static String of(Half.Take take) {
        return "{\"do_remote_prefill\":true,\"do_remote_decode\":false,\"transfer_id\":"
                + GatewayJson.quoted(take.transfer())
                + ",\"remote_bootstrap_addr\":"
                + GatewayJson.quoted(take.registry())
                + ",\"remote_engine_id\":"
                + GatewayJson.quoted(take.engine())
                + '}';
    }

    /**
     * @param answer of the engine that has computed the prompt
     * @param members of it
     * @return null: it names nothing to fetch; what was computed is found by its content, or not at
     *     all
     */
    static @Nullable HandOff of(byte[] answer, BodyMembers members) throws JsonProcessingException {
        Member member = members.get(MEMBER);
        if (member == null || member.isNull()) {
            return null;
        }
        byte[] json = Arrays.copyOfRange(answer, member.start(), member.end());
        return isWhole(GatewayJson.tree(new String(json, StandardCharsets.UTF_8)))
                ? new HandOff(json)
                : null;
    }

    private static boolean isWhole(JsonNode params) {
        return params.path("do_remote_prefill").asBoolean(false)
                && TEXTS.stream().allMatch(t -> params.path(t).isTextual())
                && params.path("remote_port").isIntegralNumber()
                && params.path("tp_size").isIntegralNumber()
                && params.path("remote_block_ids").isArray()
                && !params.path("remote_block_ids").isEmpty();
    }

    /** {@code body}: a JSON object with at least one member. */
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
