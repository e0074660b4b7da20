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
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.ControlledSessions.View;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SessionTable.Binding;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * {@code GET /sessions}, {@code GET} and {@code DELETE /sessions/{id}}: which rank sessions are
 * bound to, those that a header names and those that clients open. For operators; tenants are not
 * shown, their names may be secrets.
 *
 * <p>Taken on the event loop, answered on Vert.x's workers: all bindings may be looked at.
 */
public final class SessionsApi {
    private static final int FIRST = -1000;
    private static final int DEFAULT_LIMIT = 1000;
    private static final int MAX_LIMIT = 100_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SessionTable table;
    private final ControlledSessions controlled;
    private final Function<Place, String> idOnEngine;
    private final Supplier<FleetSnapshot> fleet;
    private final AdminAccess access;

    /**
     * @param idOnEngine what the engine calls a session that is there
     */
    public SessionsApi(
            SessionTable table,
            ControlledSessions controlled,
            Function<Place, String> idOnEngine,
            Supplier<FleetSnapshot> fleet,
            AdminAccess access) {
        this.table = table;
        this.controlled = controlled;
        this.idOnEngine = idOnEngine;
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
        list(
                rc,
                () -> {
                    List<View> open = controlled.list(limit, null);
                    return new Found(open, table.list(limit - open.size()));
                });
    }

    private void one(RoutingContext rc) {
        if (!access.enters(rc, "GET, DELETE")) {
            return;
        }
        String id = rc.pathParam("session");
        if (rc.request().method().equals(HttpMethod.GET)) {
            list(rc, () -> new Found(controlled.list(MAX_LIMIT, id), table.find(id)));
            return;
        }
        rc.vertx()
                .executeBlocking(() -> controlled.closeAll(id) + table.endAll(id), false)
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

    private record Found(List<View> open, List<Binding> bound) {
        boolean isEmpty() {
            return open.isEmpty() && bound.isEmpty();
        }
    }

    private void list(RoutingContext rc, Supplier<Found> sessions) {
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
                                            JsonOutput.object(
                                                    json -> {
                                                        json.writeStringField("object", "list");
                                                        json.writeNumberField(
                                                                "total",
                                                                table.size() + controlled.size());
                                                        json.writeArrayFieldStart("data");
                                                        for (View v : found.open()) {
                                                            row(v, now, json);
                                                        }
                                                        for (Binding b : found.bound()) {
                                                            row(b, now, json);
                                                        }
                                                        json.writeEndArray();
                                                    }));
                        });
    }

    private void row(View v, FleetSnapshot fleet, JsonGenerator json) throws IOException {
        json.writeStartObject();
        name(v.key(), json);
        json.writeBooleanField("controlled", true);
        Place at = v.place();
        json.writeStringField("state", at == null ? "opening" : "open");
        if (at != null) {
            place(at.worker(), at.dpRank(), fleet, json);
            json.writeStringField("kept_by", at.support().word());
            json.writeStringField("engine_id", idOnEngine.apply(at));
            json.writeNumberField("pinned_tokens", at.held());
        }
        json.writeNumberField("turns", v.turns());
        json.writeNumberField("timeout_s", v.timeoutSeconds());
        json.writeNumberField("idle_ms", v.idleMillis());
        json.writeEndObject();
    }

    private static void row(Binding b, FleetSnapshot fleet, JsonGenerator json) throws IOException {
        json.writeStartObject();
        name(b.key(), json);
        json.writeBooleanField("controlled", false);
        place(b.worker(), b.dpRank(), fleet, json);
        json.writeNumberField("turns", b.turns());
        json.writeNumberField("moves", b.moves());
        json.writeNumberField("age_ms", b.ageNanos() / NANOS_PER_MILLI);
        json.writeNumberField("idle_ms", b.idleNanos() / NANOS_PER_MILLI);
        json.writeEndObject();
    }

    private static void name(SessionKey key, JsonGenerator json) throws IOException {
        json.writeStringField("id", key.id());
        json.writeStringField("model", key.scope().model());
        json.writeBooleanField("has_tenant", !key.scope().tenant().isEmpty());
    }

    private static void place(long worker, int dpRank, FleetSnapshot fleet, JsonGenerator json)
            throws IOException {
        json.writeStringField("worker_id", Long.toUnsignedString(worker));
        for (Worker w : fleet.workers()) {
            if (w.id() == worker) {
                json.writeStringField("worker", w.name());
            }
        }
        json.writeNumberField("dp_rank", dpRank);
    }

    private static void unknown(RoutingContext rc) {
        fail(rc, new GatewayError.NoSuchRoute(rc.request().method().name(), rc.normalizedPath()));
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        ErrorMapper.respond(rc.response(), error, "admin");
    }
}
