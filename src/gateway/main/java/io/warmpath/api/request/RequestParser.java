package io.warmpath.api.request;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.JsonInput;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.net.HeapBytes;
import io.warmpath.routing.Part;

/**
 * Reads what routing needs out of a request body, in one pass over its bytes. A body of the common
 * shape is read by {@link QuickReader}, every other one by {@link JacksonReader}; both read the
 * same out of the same bytes. Unknown members are stepped over: the bytes are sent on, so they
 * survive. Any thread.
 */
public final class RequestParser {
    /** Which API the body belongs to. */
    public enum Endpoint {
        CHAT,
        COMPLETIONS,
        /** Passed on as {@link #OTHER}, to where its input is cached. */
        RESPONSES,
        /** As {@link #RESPONSES}; nothing is generated. */
        EMBEDDINGS,
        /** Only its model is looked at; nothing is generated. */
        SCORES,
        /** Only its model is looked at; any of the engines' other APIs. */
        OTHER;

        /** The answer is passed on as it comes, of whatever kind. */
        boolean isPassedOn() {
            return compareTo(RESPONSES) >= 0;
        }

        /** What an engine has to do. */
        Part part() {
            return this == EMBEDDINGS || this == SCORES ? Part.PREFILL : Part.WHOLE;
        }
    }

    /** A body of this many bytes is read where it arrived: well under 100 µs, mostly. */
    public static final int SHORT_BYTES = 64 << 10;

    private RequestParser() {}

    /**
     * What a body is read for.
     *
     * @param explain the decision's reasons are wanted
     * @param texts false: nobody will look at a chat's texts, unless they are to be explained
     * @param handOff the sender may say what acts on the engine or on other requests
     * @param objectives that the sender may name
     */
    public record Terms(boolean explain, boolean texts, boolean handOff, Objectives objectives) {
        /** No name of an objective means anything. */
        public Terms(boolean explain, boolean texts, boolean handOff) {
            this(explain, texts, handOff, Objectives.NONE);
        }
    }

    /**
     * @throws GatewayException BadRequest, with the position for bad JSON and the member's name for
     *     a bad value
     */
    public static InferenceRequest parse(
            Endpoint endpoint,
            String requestId,
            String target,
            MultiMap headers,
            Buffer body,
            Terms terms) {
        HeapBytes bytes = HeapBytes.of(body);
        if (endpoint == Endpoint.OTHER && FormFields.isForm(headers)) {
            RequestFields form = new RequestFields();
            FormFields.read(headers, bytes, form);
            return form.request(endpoint, requestId, target, headers, body, terms);
        }
        RequestFields fields = QuickReader.read(endpoint, bytes, terms.texts() || terms.explain());
        if (fields == null) {
            fields = slowly(endpoint, bytes);
        }
        return fields.request(endpoint, requestId, target, headers, body, terms);
    }

    /** Reads any body; the only one that refuses one. */
    static RequestFields slowly(Endpoint endpoint, HeapBytes bytes) {
        return JsonInput.body(bytes, json -> JacksonReader.read(endpoint, json));
    }
}
