package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.Prefiller;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What engines take from routers and not from clients: it names hosts that the engine connects to,
 * blocks and requests that are others', or code that it runs. The members are those of {@link
 * RequestMember#isForEngines}; all are listed, with those that are passed on and why, in {@code
 * src/docs/how-to/security.md}. Stateless.
 */
final class EngineFields {
    /** Of SGLang (SGLANG_ENABLE_REQUEST_HEADER_OVERRIDES), whatever follows. */
    private static final String OVERRIDE = "x-override-";

    /** Of llm-d's sidecar, and of vLLM. */
    private static final String[] HEADERS = {
        Prefiller.HEADER, "x-encoder-hosts-ports", "x-data-parallel-host-port", "x-vllm-priority"
    };

    private EngineFields() {}

    /**
     * @param member path of one that the body has; null: it has none
     * @throws GatewayException BadRequest, for that or for a header
     */
    static void refuse(@Nullable String member, MultiMap headers) {
        if (member != null) {
            throw refusal(member);
        }
        headers.forEach((name, value) -> refuse(name));
    }

    private static void refuse(String header) {
        // Most headers end here.
        if (header.length() < OVERRIDE.length()
                || header.charAt(1) != '-'
                || (header.charAt(0) | 0x20) != 'x') {
            return;
        }
        if (header.regionMatches(true, 0, OVERRIDE, 0, OVERRIDE.length())) {
            throw refusal(header.toLowerCase(Locale.ROOT));
        }
        for (String refused : HEADERS) {
            if (header.equalsIgnoreCase(refused)) {
                throw refusal(refused);
            }
        }
    }

    private static GatewayException refusal(String field) {
        return InvalidRequest.bad(
                field,
                ("`%s` acts on engines or on other requests and is not taken from clients;"
                                + " %s. A front end that has to send it needs a key with"
                                + " `hand-off: true`, or the gateway --forward-hand-off"
                                + " (src/docs/how-to/security.md).")
                        .formatted(field, instead(field)));
    }

    private static String instead(String field) {
        return switch (field) {
            case "rid", "request_id", "x-override-rid" ->
                    "leave it out and send the header `X-Request-Id`";
            case "session_params" -> "leave it out and use `nvext.session_control`";
            case "extra_key" -> "leave it out and send `cache_salt`";
            case "lora_path" -> "leave it out and name the adapter as `model`";
            case "x-vllm-priority", "x-override-priority" ->
                    "leave it out and send `nvext.agent_hints.priority`";
            default -> "leave it out";
        };
    }
}
