package io.warmpath.api;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.session.pin.Pin;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /sessions/pins} and {@code DELETE /sessions/pins/{id}}: which rank keeps which prefix,
 * and which were refused last. For operators, who see those of all tenants; tenants are not shown,
 * their names may be secrets.
 *
 * <p>Taken on the event loop, answered on Vert.x's workers: all pins may be looked at.
 */
public final class PinsApi {
    /** Before the routes of sessions, of which one could have this name. */
    private static final int FIRST = -1001;

    private static final int DEFAULT_LIMIT = 1000;
    private static final int MAX_LIMIT = 1_000_000;

    private final PinLedger ledger;
    private final PinRefusals refusals;
    private final Supplier<FleetSnapshot> fleet;
    private final AdminAccess access;

    public PinsApi(
            PinLedger ledger,
            PinRefusals refusals,
            Supplier<FleetSnapshot> fleet,
            AdminAccess access) {
        this.ledger = ledger;
        this.refusals = refusals;
        this.fleet = fleet;
        this.access = access;
    }

    public void mount(Router router) {
        router.route("/sessions/pins").order(FIRST).handler(this::all);
        router.route("/sessions/pins/:pin").order(FIRST).handler(this::one);
    }

    private void all(RoutingContext rc) {
        if (!access.enters(rc, "GET")) {
            return;
        }
        int limit = limit(rc);
        if (limit < 0) {
            ErrorMapper.respond(
                    rc.response(),
                    new GatewayError.BadRequest(
                            "limit", "`limit` must be an integer in 1.." + MAX_LIMIT + "."),
                    "admin");
            return;
        }
        rc.vertx()
                .executeBlocking(() -> ledger.list(limit), false)
                .onSuccess(
                        pins ->
                                rc.response()
                                        .putHeader("content-type", "application/json")
                                        .end(JsonOutput.object(json -> write(pins, json))));
    }

    private void one(RoutingContext rc) {
        if (!access.enters(rc, "GET, DELETE")) {
            return;
        }
        Pin pin = find(rc.pathParam("pin"));
        boolean look = rc.request().method().equals(HttpMethod.GET);
        if (pin == null || (!look && !ledger.drop(pin.number()))) {
            ErrorMapper.respond(
                    rc.response(),
                    new GatewayError.NoSuchRoute(rc.request().method().name(), rc.normalizedPath()),
                    "admin");
        } else if (look) {
            rc.response()
                    .putHeader("content-type", "application/json")
                    .end(JsonOutput.object(json -> members(pin, fleet.get(), json)));
        } else {
            rc.response().setStatusCode(204).end();
        }
    }

    private @Nullable Pin find(String id) {
        try {
            return ledger.find(Long.parseLong(id));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static int limit(RoutingContext rc) {
        String given = rc.request().getParam("limit");
        if (given == null) {
            return DEFAULT_LIMIT;
        }
        try {
            int limit = Integer.parseInt(given);
            return limit >= 1 && limit <= MAX_LIMIT ? limit : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private void write(List<Pin> pins, JsonGenerator json) throws IOException {
        FleetSnapshot now = fleet.get();
        json.writeStringField("object", "list");
        json.writeNumberField("total", ledger.size());
        json.writeNumberField("total_tokens", ledger.tokens());
        json.writeArrayFieldStart("data");
        for (Pin p : pins) {
            json.writeStartObject();
            members(p, now, json);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("refused");
        for (PinRefusals.Refusal r : refusals.list()) {
            json.writeStartObject();
            json.writeStringField("at", Instant.ofEpochMilli(r.atMillis()).toString());
            worker(r.worker(), now, json);
            json.writeStringField("model", r.model());
            json.writeNumberField("tokens", r.tokens());
            json.writeStringField("result", r.result());
            json.writeStringField("reason", r.reason());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void members(Pin p, FleetSnapshot now, JsonGenerator json) throws IOException {
        json.writeStringField("id", Long.toString(p.number()));
        worker(p.worker(), now, json);
        json.writeNumberField("dp_rank", p.dpRank());
        json.writeStringField("model", p.scope().model());
        json.writeBooleanField("has_tenant", !p.scope().tenant().isEmpty());
        json.writeStringField("state", p.held() ? "held" : "asked");
        json.writeStringField("how", p.how().word());
        json.writeNumberField("tokens", p.tokens());
        json.writeNumberField("blocks", p.blocks());
        json.writeNumberField("block_size", p.blockSize());
        json.writeNumberField("nodes_pinned", p.nodes());
        json.writeStringField("said", p.said());
        json.writeNumberField("ttl_seconds", p.ttlSeconds());
        json.writeStringField("made_at", Instant.ofEpochMilli(p.madeMillis()).toString());
        json.writeStringField("expires_at", Instant.ofEpochMilli(p.expiresMillis()).toString());
        json.writeNumberField("hits", p.hits());
    }

    private static void worker(long id, FleetSnapshot fleet, JsonGenerator json)
            throws IOException {
        json.writeStringField("worker_id", Long.toUnsignedString(id));
        for (Worker w : fleet.workers()) {
            if (w.id() == id) {
                json.writeStringField("worker", w.name());
            }
        }
    }
}
