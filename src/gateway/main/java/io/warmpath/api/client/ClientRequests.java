package io.warmpath.api.client;

import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.observe.FlowMetrics;
import jakarta.ws.rs.NotFoundException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/**
 * Takes requests of clients over from their REST resources, unless the gateway stops: asks for the
 * key, then hands the Vert.x request, its body unread, to the handler, which answers it. Immutable;
 * on the request's event loop. REST keeps nothing of a request that was taken over: neither its
 * response handlers nor a handler for a closed connection, which would replace the one that cancels
 * the engine's request.
 */
public final class ClientRequests {
    /** What a client must have for a path. */
    public enum Need {
        KEY,
        /** A key, and tokens of its limit. */
        CHARGED,
        /** A key for the direct API. */
        DIRECT,
        DIRECT_CHARGED;

        boolean direct() {
            return this == DIRECT || this == DIRECT_CHARGED;
        }

        boolean charged() {
            return this == CHARGED || this == DIRECT_CHARGED;
        }
    }

    /** A client that sends a body may do so for this long after it was refused. */
    private static final long LINGER_MILLIS = 1_000;

    private final ClientGate gate;
    private final Supplier<PageGate> pages;
    private final RequestIds ids;
    private final BodyReceiver bodies;
    private final BooleanSupplier stopping;
    private final BooleanSupplier onlyPicks;
    private final FlowMetrics metrics;

    /**
     * @param pages which pages in browsers may ask; any thread
     * @param stopping whether nothing new is taken; any thread
     * @param onlyPicks whether engines get requests from proxies alone; any thread
     * @param metrics is told of those who are refused
     */
    public ClientRequests(
            ClientGate gate,
            Supplier<PageGate> pages,
            RequestIds ids,
            BodyReceiver bodies,
            BooleanSupplier stopping,
            BooleanSupplier onlyPicks,
            FlowMetrics metrics) {
        this.gate = gate;
        this.pages = pages;
        this.ids = ids;
        this.bodies = bodies;
        this.stopping = stopping;
        this.onlyPicks = onlyPicks;
        this.metrics = metrics;
    }

    /** A request whose handler wants the whole body. */
    void withBody(
            ServerRequestContext rest, Need need, ErrorForm errors, BodyReceiver.Arrival arrival) {
        take(rest, need, errors, request -> bodies.receive(request, errors, arrival));
    }

    /** A request whose handler wants to know its id, and no body. */
    void withId(ServerRequestContext rest, Need need, ByRequestId handler) {
        take(
                rest,
                need,
                ErrorForm.OPENAI,
                request -> handler.on(request, ids.of(request.headers())));
    }

    /**
     * A request of an operator, whom the filter of its resource has let in: the gateway's own
     * secrets stay here, as a client's do.
     */
    public void ofOperator(ServerRequestContext rest, BodyReceiver.Arrival arrival) {
        over(
                rest,
                request -> {
                    ClientGate.hide(request.headers());
                    bodies.receive(request, ErrorForm.OPENAI, arrival);
                });
    }

    /** Answers a request that has an id. */
    interface ByRequestId {
        void on(HttpServerRequest request, String requestId);
    }

    /**
     * @param handler answers the request, now or later; it is not asked when the client may not
     * @throws NotFoundException for a path with {@code ;}, which no endpoint has
     */
    void take(
            ServerRequestContext rest,
            Need need,
            ErrorForm errors,
            Consumer<HttpServerRequest> handler) {
        over(rest, request -> admit(request, need, errors, visit -> handler.accept(request)));
    }

    private static void over(ServerRequestContext rest, Consumer<HttpServerRequest> handler) {
        ResteasyReactiveRequestContext context = (ResteasyReactiveRequestContext) rest;
        HttpServerRequest request = context.unwrap(HttpServerRequest.class);
        if (request.path().indexOf(';') >= 0) {
            // REST has cut it off; the engine would get it.
            throw new NotFoundException();
        }
        handler.accept(request);
        // Behind the handler: what it throws is answered by the exception mapper.
        context.suspend();
        context.close();
    }

    /** Lets in or answers. */
    public void admit(
            HttpServerRequest request, Need need, ErrorForm errors, ClientGate.Next next) {
        VertxRequest client = new VertxRequest(request, errors);
        if (stopping.getAsBoolean()) {
            GatewayError error = new GatewayError.Stopping();
            String id = ids.of(request.headers());
            metrics.refused(Refusals.of(client, id, error));
            client.refuseLast(error, id, LINGER_MILLIS);
            return;
        }
        GatewayError foreign = pages.get().refusal(request);
        if (foreign != null) {
            refuse(client, foreign);
            return;
        }
        if (need.charged() && onlyPicks.getAsBoolean()) {
            refuse(
                    client,
                    new GatewayError.Forbidden(
                            "This process only chooses endpoints for proxies"
                                    + " (--endpoint-picker-only); send the request to the proxy in"
                                    + " front of the engines."));
            return;
        }
        gate.enter(
                client,
                ids,
                metrics,
                need.charged(),
                visit -> {
                    if (visit != null && need.direct() && !visit.caller().grant().direct()) {
                        refuse(
                                client,
                                new GatewayError.Forbidden(
                                        "This API key is not one for /router; see `direct-api` in"
                                                + " src/docs/how-to/security.md."));
                    } else {
                        next.on(visit);
                    }
                });
    }

    private void refuse(VertxRequest client, GatewayError error) {
        String id = ids.of(client.headers());
        metrics.refused(Refusals.of(client, id, error));
        client.refuse(error, id);
        client.discard(LINGER_MILLIS); // it came paused; an unread body would stay
    }
}
