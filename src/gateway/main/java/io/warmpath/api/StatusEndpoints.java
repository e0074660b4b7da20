package io.warmpath.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.access.Visit;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.ModelNames;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Models and health, answered from the fleet snapshot. Never names an engine's address. */
record StatusEndpoints(
        Fleet fleet,
        ModelNames names,
        Supplier<String> notReady,
        BodyMemory bodies,
        RequestIds ids) {
    /**
     * OpenAI's model list, of those that the client may use; empty when no worker is known. As in
     * engines' lists, {@code root} is what a name stands for and {@code parent} what an adapter
     * belongs to.
     */
    void models(RoutingContext rc, @Nullable Visit visit) {
        ObjectNode body = GatewayJson.object().put("object", "list");
        ArrayNode data = body.putArray("data");
        for (ModelName model : names.listed(fleet.snapshot())) {
            if (visit == null || visit.allows(model.asked())) {
                describe(model, data.addObject());
            }
        }
        respond(rc, 200, body);
    }

    /**
     * One entry of that list. {@code asked}: name of it; 404 when it is not listed for the client.
     */
    void model(RoutingContext rc, @Nullable Visit visit, String asked) {
        for (ModelName model : names.listed(fleet.snapshot())) {
            if (model.asked().equals(asked) && (visit == null || visit.allows(asked))) {
                ObjectNode body = GatewayJson.object();
                describe(model, body);
                respond(rc, 200, body);
                return;
            }
        }
        ErrorMapper.respond(
                rc.response(),
                new GatewayError.UnknownModel(asked),
                ids.of(rc.request().headers()));
    }

    private static void describe(ModelName model, ObjectNode entry) {
        entry.put("id", model.asked())
                .put("object", "model")
                .put("created", 0)
                .put("owned_by", "warmpath");
        if (!model.asked().equals(model.served())) {
            entry.put("root", model.served());
        }
        if (!model.lora().isEmpty()) {
            entry.put("parent", model.base());
        }
    }

    /** 200 while at least one worker gets requests, and whether memory is full. */
    void health(RoutingContext rc) {
        FleetSnapshot now = fleet.snapshot();
        int ready = 0;
        for (Worker w : now.workers()) {
            ready += w.available() ? 1 : 0;
        }
        boolean served = now.anyAvailable();
        ObjectNode body = GatewayJson.object().put("status", served ? "healthy" : "unhealthy");
        body.putObject("workers").put("ready", ready).put("total", now.workers().size());
        body.put("models", now.models().size());
        body.put("memory", bodies.full() ? "full" : "free");
        respond(rc, served ? 200 : 503, body);
    }

    /** 200 as long as this process answers at all. */
    void live(RoutingContext rc) {
        respond(rc, 200, GatewayJson.object().put("status", "live"));
    }

    /**
     * 503 until a worker gets requests and the gateway is warm, and from a signal to stop on. While
     * no worker gets any, the body says why.
     */
    void ready(RoutingContext rc) {
        boolean served = fleet.snapshot().anyAvailable();
        String waiting = served ? notReady.get() : "waiting for a worker";
        ObjectNode body = GatewayJson.object().put("status", waiting.isEmpty() ? "ready" : waiting);
        Map<String, String> problems = served ? Map.of() : fleet.problems();
        if (!problems.isEmpty()) {
            problems.forEach(body.putObject("workers")::put);
        }
        respond(rc, waiting.isEmpty() ? 200 : 503, body);
    }

    private void respond(RoutingContext rc, int code, ObjectNode body) {
        HttpServerResponse response = rc.response();
        response.setStatusCode(code);
        response.putHeader("content-type", "application/json");
        response.putHeader(RequestIds.HEADER, ids.of(rc.request().headers()));
        if (code == 503) {
            response.putHeader("retry-after", "1");
        }
        response.end(Buffer.buffer(GatewayJson.bytes(body))); // Vert.x leaves the body out for HEAD
    }
}
