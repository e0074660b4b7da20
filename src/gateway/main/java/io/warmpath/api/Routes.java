package io.warmpath.api;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.client.ClientApis;
import io.warmpath.api.client.ClientGate;
import io.warmpath.api.client.ClientRequests;
import io.warmpath.api.client.PageGate;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.RawInlet;
import io.warmpath.api.connection.RawRequest;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.api.direct.DirectApi;
import io.warmpath.api.direct.TokenizeApi;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.inference.ExplainedRequests;
import io.warmpath.api.inference.InferenceEndpoint;
import io.warmpath.api.messages.MessagesApi;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.api.picker.PickerOptions;
import io.warmpath.api.picker.PickerParts;
import io.warmpath.api.picker.PickerServer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.HttpBytes;
import io.warmpath.net.server.Http2Head;
import io.warmpath.net.server.ServerCodec;
import io.warmpath.net.server.ServerPipeline;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.upstream.EngineClient;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a gateway has in front of its REST resources: the way past the server's codec for requests
 * to engines, the list of models, and the probes. The handlers of the resources for clients are
 * made here, as both ways lead to them. Handlers run on the event loop, before everything else on
 * the router.
 */
public final class Routes {
    /** Before Quarkus' own handlers, whose default order is 0 and above. */
    static final int FIRST = -1000;

    private final ClientApis apis;
    private final StatusEndpoints status;
    private final BodyMemory bodies;
    private final RequestIds ids;
    private final ClientGate gate;
    private static final String MODELS = "/v1/models";

    private final boolean raw;
    private final RawRequests rawRequests = new RawRequests();
    private final Consumer<ServerCodec> pastCodec;
    private final Pickers pickers;
    private final RawRequests proxied = new RawRequests();
    private volatile boolean onlyPicks;
    private volatile PageGate pages;

    private interface Pickers {
        PickerServer of(
                PickerMeters meters,
                PickerOptions options,
                UnaryOperator<EngineClient> keyed,
                Supplier<String> notReady);
    }

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
        this.pages = PageGate.own(gate.isOpen());
        this.ids = new RequestIds(random);
        ExplainedRequests explained =
                new ExplainedRequests(fleet, flow, tokens, tokenizers, options, metrics);
        BodyReceiver bodies =
                new BodyReceiver(flow.bodies(), flow.bodyPace(), options, metrics, ids);
        TokenizeApi tokenize =
                new TokenizeApi(fleet, flow.models(), tokens, tokenizers, options.retryAfter());
        this.raw = options.rawPath();
        this.apis =
                new ClientApis(
                        new ClientRequests(
                                gate,
                                () -> pages,
                                ids,
                                bodies,
                                rawRequests::isStopping,
                                () -> onlyPicks,
                                metrics),
                        new InferenceEndpoint(
                                flow, explained, tokenizers, options, metrics, bodies),
                        new MessagesApi(
                                flow, tokenize, tokenizers, metrics, raw, options.forwardHandOff()),
                        new DirectApi(flow, raw),
                        tokenize);
        this.bodies = flow.bodies();
        this.status = new StatusEndpoints(fleet, flow.models(), notReady, flow.bodies(), ids);
        RawInlet.Receiver receiver = new PastCodec(flow, options, metrics);
        this.pastCodec = codec -> RawInlet.install(codec, receiver, rawRequests);
        this.pickers =
                (meters, picked, keyed, notPicking) -> {
                    RequestFlow behind = flow.proxied();
                    PickerParts parts =
                            new PickerParts(
                                    new InferenceEndpoint(
                                            behind,
                                            new ExplainedRequests(
                                                    fleet,
                                                    behind,
                                                    tokens,
                                                    tokenizers,
                                                    options,
                                                    metrics),
                                            tokenizers,
                                            options,
                                            metrics,
                                            bodies),
                                    fleet,
                                    gate,
                                    ids,
                                    flow.bodies(),
                                    metrics,
                                    meters,
                                    picked,
                                    keyed,
                                    random,
                                    System::nanoTime);
                    return new PickerServer(parts, notPicking, this.proxied);
                };
    }

    /**
     * For proxies that ask where to send requests, in place of sending them here.
     *
     * @param keyed adds what engines want to be shown
     * @param notPicking why nobody should ask now; empty: ask
     */
    public PickerServer picker(
            PickerMeters meters,
            PickerOptions options,
            UnaryOperator<EngineClient> keyed,
            Supplier<String> notPicking) {
        return pickers.of(meters, options, keyed, notPicking);
    }

    /** Names of requests. */
    public RequestIds ids() {
        return ids;
    }

    /** Memory of the bodies of requests that come in here. */
    public BodyMemory bodies() {
        return bodies;
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
                            GatewayError wrong = wrong(rc);
                            if (wrong == null) {
                                rc.next();
                            } else {
                                respond(rc, wrong);
                            }
                        })
                .failureHandler(this::notHttp);
        get(router, MODELS, rc -> withKey(rc, visit -> status.models(rc, visit)));
        // Names of models have slashes, which clients encode or not.
        get(
                router,
                MODELS + "/*",
                rc -> withKey(rc, visit -> status.model(rc, visit, modelNamed(rc))));
        for (String path : List.of("/q/health", "/q/health/*", "/q/openapi")) {
            get(router, path, RoutingContext::next);
        }
        get(router, "/health", status::health);
        get(router, "/live", status::live);
        get(router, "/ready", status::ready);
    }

    /**
     * {@code GET /metrics}, before the runtime's own.
     *
     * @param scrape all metrics in the format of this content type; takes milliseconds
     */
    public void mountMetrics(Router router, UnaryOperator<String> scrape) {
        MetricsEndpoint metrics = new MetricsEndpoint(scrape);
        for (String path : List.of("/metrics", "/metrics/*")) {
            get(
                    router,
                    path,
                    rc -> {
                        GatewayError foreign = pages.refusal(rc.request());
                        if (foreign == null) {
                            metrics.answer(rc);
                        } else {
                            respond(rc, foreign);
                        }
                    });
        }
    }

    /** These pages of other sites may ask what clients ask. */
    public void allow(Router router, CrossOrigin others) {
        pages = new PageGate(others.rules(), gate.isOpen());
        others.mount(router);
    }

    private void withKey(RoutingContext rc, ClientGate.Next next) {
        apis.requests().admit(rc.request(), ClientRequests.Need.KEY, ErrorForm.OPENAI, next);
    }

    private static String modelNamed(RoutingContext rc) {
        String name = rc.request().path().substring(MODELS.length() + 1);
        return URLDecoder.decode(name.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Before any handler looks at it; null: nothing. A preflight is answered before its path's. */
    private @Nullable GatewayError wrong(RoutingContext rc) {
        if (!Http2Head.isSound(rc.request())) {
            return InvalidRequest.NOT_HTTP;
        }
        if (!isCanonical(rc)) {
            return InvalidRequest.NOT_CANONICAL;
        }
        return rc.request().method().equals(HttpMethod.OPTIONS)
                ? pages.refusal(rc.request())
                : null;
    }

    /**
     * Its path is written in the one way that means it, and its target has nothing that must be
     * percent-encoded: what a proxy in front has judged is what is routed here. Of HTTP/2, too.
     */
    private static boolean isCanonical(RoutingContext rc) {
        try {
            return rc.normalizedPath().equals(rc.request().path())
                    && HttpBytes.isTarget(rc.request().uri());
        } catch (IllegalArgumentException e) { // a broken percent-encoding
            return false;
        }
    }

    /** Chats without the REST resource: for a router of a gateway's own, such as the warm-up's. */
    public void mountChat(Router router) {
        router.post("/v1/chat/completions")
                .order(FIRST)
                .handler(rc -> apis.inference().handle(rc.request()));
    }

    /** What the resources for clients hand their requests to. */
    public ClientApis apis() {
        return apis;
    }

    /** Clients' own requests to engines are refused from now on; proxies send theirs. */
    public void onlyPicks() {
        onlyPicks = true;
        rawRequests.close();
    }

    /** Those that proxies send. */
    public RawRequests proxied() {
        return proxied;
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
        public boolean allowsName(String host) {
            return pages.allowsName(host);
        }

        @Override
        public BodyMemory.Reservation memory() {
            return flow.bodies().reserve();
        }

        @Override
        public void arrived(RawRequest request, Buffer body) {
            gate.enter(
                    request, ids, metrics, true, visit -> apis.inference().handle(request, body));
        }

        @Override
        public void cancelledEarly() {
            metrics.cancelledEarly();
        }
    }

    private void get(Router router, String path, Handler<RoutingContext> handler) {
        router.route(path)
                .order(FIRST)
                .handler(
                        rc -> {
                            rc.request().resume(); // a body that nobody reads must not stay
                            HttpMethod method = rc.request().method();
                            if (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD)) {
                                handler.handle(rc);
                            } else {
                                respond(
                                        rc,
                                        new GatewayError.MethodNotAllowed(
                                                method.name(), rc.normalizedPath(), "GET, HEAD"));
                            }
                        });
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
        ErrorMapper.respond(rc.response(), error, ids.of(rc.request().headers()));
    }
}
