package io.warmpath.api.connection;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.Refusal;
import io.warmpath.gateway.observe.TraceIds;
import io.warmpath.gateway.request.Visits;

/** What is known of a request that is refused before it has begun. On its event loop. */
public final class Refusals {
    private Refusals() {}

    public static Refusal of(ClientRequest client, String requestId, GatewayError error) {
        return of(client.target(), client.headers(), requestId, error);
    }

    /** {@code path}: without the query. */
    public static Refusal of(String path, MultiMap headers, String requestId, GatewayError error) {
        Context context = Vertx.currentContext(); // clocks of slow bodies have none
        Visit visit = context == null ? null : Visits.of(context);
        return new Refusal(
                requestId, path, visit == null ? "" : visit.tenant(), TraceIds.of(headers), error);
    }
}
