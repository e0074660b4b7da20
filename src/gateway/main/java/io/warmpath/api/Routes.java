package io.warmpath.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.access.Visit;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.RawInlet;
import io.warmpath.api.connection.RawRequest;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.direct.DirectApi;
import io.warmpath.api.direct.TokenizeApi;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.inference.ExplainedRequests;
import io.warmpath.api.inference.InferenceEndpoint;
import io.warmpath.api.messages.MessagesApi;
import io.warmpath.api.messages.MessagesErrors;
import io.warmpath.api.request.InferencePath;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.server.ServerCodec;
import io.warmpath.net.server.ServerPipeline;
import io.warmpath.tokens.Tokenizing;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The public HTTP surface on a Vert.x router: inference, the direct API, models, health.
 *
 * <p>Handlers run on the event loop, before everything else on that router, and read their bodies
 * themselves.
 */
public final class Routes {
    /** Before Quarkus' own handlers, whose default order is 0 and above. */
    private static final int FIRST = -1000;

    private final BodyReceiver bodies;
    private final InferenceEndpoint inference;
    private final StatusEndpoints status;
    private final DirectApi direct;
    private final TokenizeApi tokenize;
    private final MessagesApi messages;
    private final RequestIds ids;
    private final ClientGate gate;
    private final boolean raw;
    private final RawRequests rawRequests = new RawRequests();
    private final Consumer<ServerCodec> pastCodec;

    /**
     * @param gate who may ask
     * @param tokenizers runs what takes milliseconds
     * @param notReady why it is not, though requests are answered; empty when it is
     * @param random 64 random bits for request ids; any thread
     */
    public Routes(
            Fleet fleet,
            RequestFlow flow,
            Tokenizing tokens,
            TokenLanes tokenizers,
            GatewayOptions options,
            FlowMetrics metrics,
            Supplier<String> notReady,
            LongSupplier random,
            ClientGate gate) {
        this.gate = gate;
        this.ids = new RequestIds(random);
        ExplainedRequests explained =
                new ExplainedRequests(fleet, flow, tokens, tokenizers, options, metrics);
        this.bodies = new BodyReceiver(flow.bodies(), flow.bodyPace(), options, metrics, ids);
        this.inference =
                new InferenceEndpoint(flow, explained, tokenizers, options, metrics, bodies);
        this.status = new StatusEndpoints(fleet, flow.models(), notReady, ids);
        this.raw = options.rawPath();
        RawInlet.Receiver receiver = new PastCodec(flow, options, metrics);
        this.pastCodec = codec -> RawInlet.install(codec, receiver, rawRequests);
        this.direct = new DirectApi(flow, options.rawPath());
        this.tokenize =
                new TokenizeApi(fleet, flow.models(), tokens, tokenizers, options.retryAfter());
        this.messages = new MessagesApi(flow, tokenize, tokenizers, metrics, options.rawPath());
    }

    public void mount(Router router) {
        router.route()
                .order(FIRST - 1)
                .handler(
                        rc -> {
                            ServerPipeline.guard(rc.request());
                            if (raw) {
                                ServerCodec.pass(rc.request(), pastCodec);
                            }
                            rc.next();
                        })
                .failureHandler(this::notHttp);
        for (InferencePath path : InferencePath.ALL) {
            post(router, path.path(), path.endpoint());
        }
        for (DirectApi.Ask ask : DirectApi.QUESTIONS) {
            post(router, "/router/" + ask.path(), Need.DIRECT, direct.question(ask));
        }
        post(router, "/router/generate", Need.DIRECT_CHARGED, direct::generate);
        reservations(router);
        post(router, "/tokenize", Need.KEY, tokenize::tokenize);
        post(router, "/detokenize", Need.KEY, tokenize::detokenize);
        post(router, MessagesApi.PATH, Need.CHARGED, messages::create);
        post(router, MessagesApi.COUNT, Need.KEY, messages::count);
        get(router, "/v1/models", Need.KEY, status::models);
        get(router, "/health", Need.NOTHING, status::health);
        get(router, "/live", Need.NOTHING, status::live);
        get(router, "/ready", Need.NOTHING, status::ready);
        router.route("/v1/*").order(FIRST + 1).handler(this::unknown);
        // Whatever no other route of the application took.
        router.errorHandler(404, this::unknown);
    }

    /** Those of which the runtime that has the router knows nothing. */
    public RawRequests rawRequests() {
        return rawRequests;
    }

    /** Requests for engines that do not come through the router. */
    private final class PastCodec implements RawInlet.Receiver {
        private final RequestFlow flow;
        private final GatewayOptions options;
        private final FlowMetrics metrics;

        PastCodec(RequestFlow flow, GatewayOptions options, FlowMetrics metrics) {
            this.flow = flow;
            this.options = options;
            this.metrics = metrics;
        }

        @Override
        public long maxBodyBytes() {
            return options.maxBodyBytes();
        }

        @Override
        public boolean isOpenToAll() {
            return gate.isOpen();
        }

        @Override
        public BodyMemory.Reservation memory() {
            return flow.bodies().reserve();
        }

        @Override
        public void arrived(RawRequest request, Buffer body) {
            gate.enter(request, ids, true, visit -> inference.handle(request, body));
        }

        @Override
        public void cancelledEarly() {
            metrics.cancelledEarly();
        }
    }

    /** What a client must have for a route; a new route has to say. */
    private enum Need {
        /** Probes ask, which have no key. */
        NOTHING,
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

    private void post(Router router, String path, RequestParser.Endpoint endpoint) {
        only(
                HttpMethod.POST,
                router,
                path,
                Need.CHARGED,
                (rc, visit) -> inference.handle(rc.request(), endpoint));
    }

    private void post(Router router, String path, Need need, BodyReceiver.Arrival arrival) {
        only(
                HttpMethod.POST,
                router,
                path,
                need,
                (rc, visit) -> bodies.receive(rc.request(), errorsOf(path), arrival));
    }

    private void reservations(Router router) {
        post(router, "/router/reservations", Need.DIRECT, direct::reserve);
        String one = "/router/reservations/:id";
        only(HttpMethod.DELETE, router, one, Need.DIRECT, (rc, visit) -> act(rc, direct::release));
        only(
                HttpMethod.POST,
                router,
                one + "/prefill_complete",
                Need.DIRECT,
                (rc, visit) -> act(rc, direct::prefillComplete));
        only(
                HttpMethod.POST,
                router,
                one + "/output_block",
                Need.DIRECT,
                (rc, visit) ->
                        bodies.receive(
                                rc.request(),
                                (context, request, requestId, body, gone) ->
                                        direct.outputBlock(
                                                request, rc.pathParam("id"), requestId, body)));
    }

    private interface Act {
        void on(HttpServerRequest request, String reservation, String requestId);
    }

    private void act(RoutingContext rc, Act act) {
        act.on(rc.request(), rc.pathParam("id"), ids.of(rc.request().headers()));
    }

    /** Takes what may come in. */
    private interface Handle {
        void on(RoutingContext rc, @Nullable Visit visit);
    }

    private void only(HttpMethod method, Router router, String path, Need need, Handle handle) {
        router.route(path)
                .order(FIRST)
                .handler(
                        rc -> {
                            if (rc.request().method().equals(method)) {
                                admit(rc, need, handle);
                            } else {
                                wrongMethod(rc, method.name());
                            }
                        });
    }

    private void get(Router router, String path, Need need, Handle handle) {
        router.route(path)
                .order(FIRST)
                .handler(
                        rc -> {
                            HttpMethod method = rc.request().method();
                            if (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD)) {
                                rc.request().resume(); // a body that nobody reads must not stay
                                admit(rc, need, handle);
                            } else {
                                wrongMethod(rc, "GET, HEAD");
                            }
                        });
    }

    private void admit(RoutingContext rc, Need need, Handle handle) {
        if (need == Need.NOTHING) {
            handle.on(rc, null);
            return;
        }
        gate.enter(
                new VertxRequest(rc.request(), errorsOf(rc.normalizedPath())),
                ids,
                need.charged(),
                visit -> {
                    if (visit != null && need.direct() && !visit.caller().grant().direct()) {
                        respond(
                                rc,
                                new GatewayError.Forbidden(
                                        "This API key is not one for /router; see `direct-api` in"
                                                + " src/docs/security.md."));
                    } else {
                        handle.on(rc, visit);
                    }
                });
    }

    private void wrongMethod(RoutingContext rc, String allowed) {
        respond(
                rc,
                new GatewayError.MethodNotAllowed(
                        rc.request().method().name(), rc.normalizedPath(), allowed));
    }

    private void unknown(RoutingContext rc) {
        respond(
                rc,
                new GatewayError.NoSuchRoute(rc.request().method().name(), rc.normalizedPath()));
    }

    /** What Vert.x refuses before any route, such as a request without a Host. */
    private void notHttp(RoutingContext rc) {
        if (rc.statusCode() != 400 || rc.response().ended()) {
            rc.next();
            return;
        }
        String why = rc.failure() == null ? null : rc.failure().getMessage();
        respond(
                rc,
                new GatewayError.BadRequest(
                        "", why == null ? "The request is not valid HTTP." : why));
    }

    private void respond(RoutingContext rc, GatewayError error) {
        rc.request().resume(); // Quarkus hands requests over paused; an unread body would stay
        errorsOf(rc.normalizedPath()).respond(rc.response(), error, ids.of(rc.request().headers()));
    }

    /** As the API that the path belongs to tells of errors. */
    private static ErrorForm errorsOf(String path) {
        return path.startsWith(MessagesApi.PATH) ? MessagesErrors::respond : ErrorForm.OPENAI;
    }
}
