package io.warmpath.api;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SessionTable.Binding;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@code GET /sessions}, {@code GET} and {@code DELETE /sessions/{id}}: which rank sessions are
 * bound to. For operators; tenants are not shown, their names may be secrets.
 *
 * <p>Taken on the event loop, answered on Vert.x's workers: all bindings may be looked at.
 */
public final class SessionsApi {
    private static final int FIRST = -1000;
    private static final int DEFAULT_LIMIT = 1000;
    private static final int MAX_LIMIT = 100_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SessionTable table;
    private final Supplier<FleetSnapshot> fleet;
    private final AdminAccess access;

    public SessionsApi(SessionTable table, Supplier<FleetSnapshot> fleet, AdminAccess access) {
        this.table = table;
        this.fleet = fleet;
        this.access = access;
    }

    public void mount(Router router) {
        router.route("/sessions").order(FIRST).handler(this::all);
        router.route("/sessions/:session").order(FIRST).handler(this::one);
    }

    private void all(RoutingContext rc) {
        if (!access.enters(rc, "GET")) {
            return;
        }
        int limit = limit(rc);
        if (limit < 0) {
            fail(
                    rc,
                    new GatewayError.BadRequest(
                            "limit", "`limit` must be an integer in 1.." + MAX_LIMIT + "."));
            return;
        }
        list(rc, () -> table.list(limit));
    }

    private void one(RoutingContext rc) {
        if (!access.enters(rc, "GET, DELETE")) {
            return;
        }
        String id = rc.pathParam("session");
        if (rc.request().method().equals(HttpMethod.GET)) {
            list(rc, () -> table.find(id));
            return;
        }
        rc.vertx()
                .executeBlocking(() -> table.endAll(id), false)
                .onSuccess(
                        ended -> {
                            if (ended == 0) {
                                unknown(rc);
                            } else {
                                rc.response().setStatusCode(204).end();
                            }
                        });
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

    private void list(RoutingContext rc, Supplier<List<Binding>> sessions) {
        boolean single = rc.pathParam("session") != null;
        rc.vertx()
                .executeBlocking(sessions::get, false)
                .onSuccess(
                        found -> {
                            if (single && found.isEmpty()) {
                                unknown(rc);
                                return;
                            }
                            FleetSnapshot now = fleet.get();
                            rc.response()
                                    .putHeader("content-type", "application/json")
                                    .end(
                                            DirectJson.object(
                                                    json -> {
                                                        json.writeStringField("object", "list");
                                                        json.writeNumberField(
                                                                "total", table.size());
                                                        json.writeArrayFieldStart("data");
                                                        for (Binding b : found) {
                                                            row(b, now, json);
                                                        }
                                                        json.writeEndArray();
                                                    }));
                        });
    }

    private static void row(Binding b, FleetSnapshot fleet, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("id", b.key().id());
        json.writeStringField("model", b.key().scope().model());
        json.writeBooleanField("has_tenant", !b.key().scope().tenant().isEmpty());
        json.writeStringField("worker_id", Long.toUnsignedString(b.worker()));
        for (Worker w : fleet.workers()) {
            if (w.id() == b.worker()) {
                json.writeStringField("worker", w.name());
            }
        }
        json.writeNumberField("dp_rank", b.dpRank());
        json.writeNumberField("turns", b.turns());
        json.writeNumberField("moves", b.moves());
        json.writeNumberField("age_ms", b.ageNanos() / NANOS_PER_MILLI);
        json.writeNumberField("idle_ms", b.idleNanos() / NANOS_PER_MILLI);
        json.writeEndObject();
    }

    private static void unknown(RoutingContext rc) {
        fail(rc, new GatewayError.NoSuchRoute(rc.request().method().name(), rc.normalizedPath()));
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        ErrorMapper.respond(rc.response(), error, "admin");
    }
}
