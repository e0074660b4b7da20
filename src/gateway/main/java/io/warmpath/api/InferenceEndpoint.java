package io.warmpath.api;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.BodyPace;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One POST: collects the body, hands it on, tells when the client leaves. */
final class InferenceEndpoint {
    /** What becomes of a request whose body is complete. */
    @FunctionalInterface
    interface Arrival {
        /**
         * On the request's event loop.
         *
         * @param gone what to do when the client's connection ends, maybe more than once
         * @return what to do when the client leaves; once at least the request is over, harmless
         * @throws GatewayException the answer, counted as a rejected request
         */
        Runnable complete(
                Context context,
                HttpServerRequest request,
                String requestId,
                Buffer body,
                Runnable gone);
    }

    private static final Logger LOG = Logger.getLogger(InferenceEndpoint.class);

    /** First buffer for a body of known length; a client that only promises bytes gets no more. */
    private static final int FIRST_BUFFER = 1 << 20;

    private final LongBodies bodies;
    private final ToldRequests told;
    private final RequestFlow flow;
    private final GatewayOptions options;
    private final FlowMetrics metrics;
    private final RequestIds ids;

    InferenceEndpoint(
            RequestFlow flow,
            ToldRequests told,
            TokenLanes threads,
            GatewayOptions options,
            FlowMetrics metrics,
            RequestIds ids) {
        this.bodies = new LongBodies(threads, flow.looksAtPrompts(), metrics);
        this.told = told;
        this.flow = flow;
        this.options = options;
        this.metrics = metrics;
        this.ids = ids;
    }

    /** A request of OpenAI's API. On the request's event loop. */
    void handle(HttpServerRequest request, RequestParser.Endpoint endpoint) {
        receive(
                request,
                (context, arrived, requestId, body, gone) ->
                        read(
                                context,
                                new VertxArrived(arrived, ErrorForm.OPENAI),
                                requestId,
                                endpoint,
                                body,
                                gone));
    }

    /** A request of OpenAI's API that is there as a whole. On its event loop, as its task. */
    void handle(RawRequest request, Buffer body) {
        request.memory().belongsTo(request.context());
        new Whole(request, ids.of(request.headers())).begin(body);
    }

    private Runnable read(
            Context context,
            Arrived arrived,
            String requestId,
            RequestParser.Endpoint endpoint,
            Buffer body,
            Runnable gone) {
        return bodies.read(
                context,
                arrived,
                requestId,
                endpoint,
                body,
                parsed ->
                        parsed.hints().session() == null || parsed.passThrough()
                                ? start(
                                        context,
                                        arrived,
                                        requestId,
                                        parsed,
                                        EngineForm.AS_SENT,
                                        gone)
                                : new SessionStart(context, arrived, requestId, gone)
                                        .begin(parsed));
    }

    /** What one request's client can still do once the request is there, and hear of it. */
    private abstract class ClientSide {
        final String requestId;
        private @Nullable Runnable leave;
        boolean refused;

        ClientSide(String requestId) {
            this.requestId = requestId;
        }

        /**
         * @param start answers what to do when the client leaves
         */
        final void start(Supplier<Runnable> start) {
            try {
                leave = start.get();
            } catch (GatewayException e) {
                refuse(e.error());
            } catch (RuntimeException e) {
                LOG.errorf(e, "request %s failed by a bug in the gateway", requestId);
                refuse(new GatewayError.Internal(requestId));
            }
        }

        final void refuse(GatewayError error) {
            metrics.rejected();
            answer(error);
        }

        final void answer(GatewayError error) {
            refused = true;
            respond(error);
        }

        abstract void respond(GatewayError error);

        void clientGone() {
            Runnable running = leave;
            if (running != null) {
                running.run();
            } else if (!refused) {
                refused = true;
                metrics.cancelledEarly();
            }
        }
    }

    /** One request that was there as a whole from the beginning. */
    private final class Whole extends ClientSide {
        private final RawRequest request;

        Whole(RawRequest request, String requestId) {
            super(requestId);
            this.request = request;
        }

        void begin(Buffer body) {
            request.onGone(this::clientGone);
            start(
                    () ->
                            read(
                                    request.context(),
                                    request,
                                    requestId,
                                    request.path().endpoint(),
                                    body,
                                    this::clientGone));
        }

        @Override
        void respond(GatewayError error) {
            request.refuse(error, requestId);
        }
    }

    /** A turn of a session, whose body may lack what was said before. */
    private final class SessionStart {
        private final Context context;
        private final Arrived arrived;
        private final String requestId;
        private final Runnable gone;
        private @Nullable Runnable leave;
        private boolean over;

        SessionStart(Context context, Arrived arrived, String requestId, Runnable gone) {
            this.context = context;
            this.arrived = arrived;
            this.requestId = requestId;
            this.gone = gone;
        }

        Runnable begin(InferenceRequest parsed) {
            flow.complete(
                    context,
                    parsed,
                    whole -> {
                        if (over) {
                            return;
                        }
                        if (whole == null) {
                            go(parsed, false);
                        } else {
                            leave =
                                    bodies.read(
                                            context,
                                            arrived,
                                            requestId,
                                            RequestParser.Endpoint.CHAT,
                                            whole,
                                            longer -> go(longer, true));
                        }
                    },
                    this::refuse);
            return this::leave;
        }

        private Runnable go(InferenceRequest request, boolean historyAdded) {
            Runnable running =
                    start(
                            context,
                            arrived,
                            requestId,
                            request,
                            new SessionForm(historyAdded),
                            gone);
            leave = running;
            return running;
        }

        private void refuse(GatewayError error) {
            if (!over) {
                over = true;
                metrics.rejected();
                arrived.refuse(error, requestId);
            }
        }

        private void leave() {
            Runnable running = leave;
            if (running != null) {
                running.run();
            } else if (!over) {
                over = true;
                metrics.cancelledEarly();
            }
        }
    }

    private Runnable start(
            Context context,
            Arrived arrived,
            String requestId,
            InferenceRequest parsed,
            EngineForm form,
            Runnable gone) {
        if (parsed.explain() || !parsed.hints().extras().isEmpty()) {
            return told.start(context, arrived, requestId, parsed, form, gone);
        }
        Answer answer = arrived.answer(requestId, options.rawPath(), gone);
        return flow.start(context, parsed, answer, form);
    }

    /** Any POST. On the request's event loop. */
    void receive(HttpServerRequest request, Arrival arrival) {
        receive(request, ErrorForm.OPENAI, arrival);
    }

    /** Any POST of an API that has its own form of errors. On the request's event loop. */
    void receive(HttpServerRequest request, ErrorForm errors, Arrival arrival) {
        new Reception(request, errors, arrival, ids.of(request.headers())).begin();
    }

    /** Its client wants to be told the decision's reasons. */
    static boolean explain(MultiMap headers) {
        return "1".equals(headers.get("x-warmpath-explain"));
    }

    /** One request from the time before it is complete. */
    private final class Reception extends ClientSide {
        private final HttpServerRequest request;
        private final ErrorForm errors;
        private final Arrival arrival;
        private final Context context;
        private final BodyMemory.Reservation memory = flow.bodies().reserve();
        private @Nullable Buffer body;
        private long promised; // by its head; -1: nothing
        private BodyPace.@Nullable Watch pace;

        Reception(HttpServerRequest request, ErrorForm errors, Arrival arrival, String requestId) {
            super(requestId);
            this.request = request;
            this.errors = errors;
            this.arrival = arrival;
            Context current = Vertx.currentContext();
            if (current == null) {
                throw new IllegalStateException("a request arrived outside a Vert.x context");
            }
            this.context = current;
        }

        void begin() {
            promised = contentLength(request.headers());
            request.response().closeHandler(v -> clientGone());
            request.response().exceptionHandler(e -> clientGone());
            request.exceptionHandler(e -> clientGone());
            request.response().bodyEndHandler(v -> memory.free());
            if (promised > options.maxBodyBytes()) {
                tooLarge();
                return;
            }
            request.handler(this::add);
            request.endHandler(v -> complete());
            String expect = request.getHeader("expect");
            if (expect != null && expect.equalsIgnoreCase("100-continue")) {
                request.response().writeContinue();
            }
            if (request.version() == HttpVersion.HTTP_2) {
                pace = flow.bodyPace().watch(context, this::received, this::tooSlow);
            }
            request.resume(); // Quarkus hands requests over paused
        }

        private int received() {
            return body == null ? 0 : body.length();
        }

        private void unwatch() {
            if (pace != null) {
                pace.end();
                pace = null;
            }
        }

        private void add(Buffer chunk) {
            if (refused) {
                return;
            }
            if (!memory.take(chunk.length())) {
                noMemory();
                return;
            }
            Buffer sofar = body;
            if (sofar != null) {
                sofar.appendBuffer(chunk);
            } else if (chunk.length() == promised) {
                sofar = chunk; // all of it, on the heap and nobody else's: no copy
            } else {
                int expected = (int) Math.min(promised, FIRST_BUFFER);
                sofar = Buffer.buffer(Math.max(expected, chunk.length())).appendBuffer(chunk);
            }
            body = sofar;
            if (sofar.length() > options.maxBodyBytes()) {
                tooLarge();
            }
        }

        private void complete() {
            unwatch();
            if (refused) {
                return;
            }
            Buffer complete = body == null ? Buffer.buffer(0) : body;
            body = null;
            memory.belongsTo(context);
            start(() -> arrival.complete(context, request, requestId, complete, this::clientGone));
        }

        @Override
        void respond(GatewayError error) {
            unwatch();
            body = null;
            memory.free();
            errors.respond(request.response(), error, requestId);
        }

        private void tooLarge() {
            refuse(new GatewayError.BodyTooLarge(options.maxBodyBytes()));
            ClientGate.discard(request, options.bodyLinger().toMillis());
        }

        private void tooSlow() {
            refuse(new GatewayError.BodyTooSlow(flow.bodyPace().span()));
            ClientGate.discard(request, options.bodyLinger().toMillis());
        }

        private void noMemory() {
            metrics.noMemory();
            answer(
                    new GatewayError.Overloaded(
                            503,
                            "The requests that wait for their answers take all the memory there is"
                                    + " for them",
                            options.retryAfter()));
            ClientGate.discard(request, options.bodyLinger().toMillis());
        }

        @Override
        void clientGone() {
            unwatch();
            memory.free();
            body = null;
            super.clientGone();
        }
    }

    /** -1 when there is none; Netty has refused what is not a number. */
    static long contentLength(MultiMap headers) {
        String length = headers.get("content-length");
        if (length == null) {
            return -1;
        }
        try {
            return Long.parseLong(length.strip());
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
