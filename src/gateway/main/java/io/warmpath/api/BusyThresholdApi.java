package io.warmpath.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.admission.Admission;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Fleet;
import java.io.IOException;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * {@code GET /busy_threshold}: the thresholds of every model. {@code POST /busy_threshold} with a
 * {@code model}: sets those of its thresholds that the body names, null clears one; without any it
 * only answers. On the event loop; nothing here waits.
 */
public final class BusyThresholdApi {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/busy_threshold";
    private static final String BLOCKS = "active_decode_blocks_threshold";
    private static final String TOKENS = "active_prefill_tokens_threshold";
    private static final String FRACTION = "active_prefill_tokens_threshold_frac";
    private static final Set<String> KNOWN = Set.of("model", BLOCKS, TOKENS, FRACTION);

    /** Before the routes of the runtime, like all of ours. */
    private static final int FIRST = -1000;

    private static final int MAX_BODY_BYTES = 64 << 10;

    private final Admission admission;
    private final Fleet fleet;
    private final AdminAccess access;

    public BusyThresholdApi(Admission admission, Fleet fleet, AdminAccess access) {
        this.admission = admission;
        this.fleet = fleet;
        this.access = access;
    }

    public void mount(Router router) {
        router.route(PATH).order(FIRST).handler(this::handle);
    }

    private void handle(RoutingContext rc) {
        if (!access.admits(rc, "GET, POST")) {
            return;
        }
        HttpServerRequest request = rc.request();
        if (request.method().equals(HttpMethod.GET)) {
            request.resume(); // Quarkus hands requests over paused
            answer(rc, all());
        } else {
            Buffer body = Buffer.buffer();
            request.handler(
                    chunk -> {
                        if (body.length() <= MAX_BODY_BYTES) {
                            body.appendBuffer(chunk);
                        }
                    });
            request.endHandler(end -> change(rc, body));
            request.resume();
        }
    }

    private ObjectNode all() {
        Set<String> models = new TreeSet<>(fleet.snapshot().models());
        models.addAll(admission.busyModels().keySet());
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode thresholds = answer.putArray("thresholds");
        models.forEach(m -> thresholds.add(json(m)));
        return answer;
    }

    private void change(RoutingContext rc, Buffer body) {
        try {
            answer(rc, change(body));
        } catch (GatewayException e) {
            fail(rc, e.error());
        }
    }

    private ObjectNode change(Buffer body) {
        if (body.length() > MAX_BODY_BYTES) {
            throw new GatewayException(new GatewayError.BodyTooLarge(MAX_BODY_BYTES));
        }
        JsonNode given;
        try {
            given = JSON.readTree(body.getBytes());
        } catch (IOException e) {
            throw InvalidRequest.bad("", "The request body is not valid JSON.");
        }
        if (given == null || !given.isObject()) {
            throw InvalidRequest.bad("", "The request body must be a JSON object.");
        }
        given.fieldNames()
                .forEachRemaining(
                        name -> {
                            if (!KNOWN.contains(name)) {
                                throw InvalidRequest.bad(
                                        name,
                                        "`"
                                                + name
                                                + "` is not known here; known are "
                                                + String.join(", ", new TreeSet<>(KNOWN))
                                                + ".");
                            }
                        });
        String model = given.path("model").asText("");
        if (!fleet.snapshot().knows(model)) {
            throw new GatewayException(new GatewayError.UnknownModel(model));
        }
        if (given.size() > 1) {
            BusyThresholds now = admission.busy(model);
            try {
                admission.busy(
                        model,
                        new BusyThresholds(
                                number(given, BLOCKS, now.decodeBlocks()),
                                whole(given, now.prefillTokens()),
                                number(given, FRACTION, now.prefillFraction())));
            } catch (IllegalArgumentException e) {
                throw InvalidRequest.bad("", e.getMessage() + ".");
            }
        }
        return json(model);
    }

    private static OptionalDouble number(JsonNode given, String name, OptionalDouble now) {
        JsonNode value = given.get(name);
        if (value == null) {
            return now;
        }
        if (value.isNull()) {
            return OptionalDouble.empty();
        }
        if (!value.isNumber()) {
            throw InvalidRequest.bad(name, "`" + name + "` must be a number or null.");
        }
        return OptionalDouble.of(value.doubleValue());
    }

    private static OptionalLong whole(JsonNode given, OptionalLong now) {
        JsonNode value = given.get(TOKENS);
        if (value == null) {
            return now;
        }
        if (value.isNull()) {
            return OptionalLong.empty();
        }
        if (!value.canConvertToExactIntegral() || !value.canConvertToLong()) {
            throw InvalidRequest.bad(TOKENS, "`" + TOKENS + "` must be a whole number or null.");
        }
        return OptionalLong.of(value.longValue());
    }

    private ObjectNode json(String model) {
        BusyThresholds t = admission.busy(model);
        ObjectNode json = JSON.createObjectNode();
        json.put("model", model);
        put(json, BLOCKS, t.decodeBlocks());
        if (t.prefillTokens().isPresent()) {
            json.put(TOKENS, t.prefillTokens().getAsLong());
        } else {
            json.putNull(TOKENS);
        }
        put(json, FRACTION, t.prefillFraction());
        return json;
    }

    private static void put(ObjectNode json, String name, OptionalDouble value) {
        if (value.isPresent()) {
            json.put(name, value.getAsDouble());
        } else {
            json.putNull(name);
        }
    }

    private static void answer(RoutingContext rc, ObjectNode body) {
        if (!rc.response().ended() && !rc.response().closed()) {
            rc.response().putHeader("content-type", "application/json");
            rc.response().end(Buffer.buffer(body.toString()));
        }
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        String given = rc.request().getHeader("x-request-id");
        ErrorMapper.respond(
                rc.response(), error, given == null || given.length() > 128 ? "admin" : given);
    }
}
