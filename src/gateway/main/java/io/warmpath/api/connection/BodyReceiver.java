package io.warmpath.api.connection;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.warmpath.access.Visit;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.BodyPace;
import io.warmpath.gateway.request.Visits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Collects the body of a POST, within its limits of size, time and memory, and hands it on; tells
 * when the client leaves. Event loops only.
 */
public final class BodyReceiver {
    /** What becomes of a request whose body is complete. */
    @FunctionalInterface
    public interface Arrival {
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

    /** What becomes of a request that was there as a whole. */
    @FunctionalInterface
    public interface WholeArrival {
        /** As {@link Arrival#complete}. */
        Runnable complete(String requestId, Runnable gone);
    }

    /** First buffer for a body of known length; a client that only promises bytes gets no more. */
    private static final int FIRST_BUFFER = 1 << 20;

    private final BodyMemory bodies;
    private final BodyPace bodyPace;
    private final GatewayOptions options;
    private final FlowMetrics metrics;
    private final RequestIds ids;

    /** {@code bodies}: memory of all bodies together. */
    public BodyReceiver(
            BodyMemory bodies,
            BodyPace bodyPace,
            GatewayOptions options,
            FlowMetrics metrics,
            RequestIds ids) {
        this.bodies = bodies;
        this.bodyPace = bodyPace;
        this.options = options;
        this.metrics = metrics;
        this.ids = ids;
    }

    /** A request that is there as a whole. On its event loop, as its task. */
    public void receive(RawRequest request, WholeArrival arrival) {
        request.memory().belongsTo(request.context());
        Whole whole = new Whole(request, arrival, ids.of(request.headers()));
        request.onGone(whole.gone);
        whole.start();
    }

    /** Any POST. On the request's event loop. */
    public void receive(HttpServerRequest request, Arrival arrival) {
        receive(request, ErrorForm.OPENAI, arrival);
    }

    /** Any POST of an API that has its own form of errors. On the request's event loop. */
    public void receive(HttpServerRequest request, ErrorForm errors, Arrival arrival) {
        new Reception(request, errors, arrival, ids.of(request.headers())).begin();
    }

    /** One request that was there as a whole from the beginning. */
    private final class Whole extends ReceivedRequest {
        private final RawRequest request;
        private final WholeArrival arrival;
        private final Runnable gone = this::clientGone;

        Whole(RawRequest request, WholeArrival arrival, String requestId) {
            super(BodyReceiver.this.metrics, requestId);
            this.request = request;
            this.arrival = arrival;
        }

        @Override
        Runnable run() {
            return arrival.complete(requestId, gone);
        }

        @Override
        ClientRequest client() {
            return request;
        }

        @Override
        void respond(GatewayError error) {
            request.refuse(error, requestId);
        }
    }

    /** One request from the time before it is complete. */
    private final class Reception extends ReceivedRequest {
        private final HttpServerRequest request;
        private final ErrorForm errors;
        private final Arrival arrival;
        private final Context context;
        private final BodyMemory.Reservation memory = bodies.reserve();
        private final @Nullable Visit visit;
        private @Nullable Buffer body; // what has arrived of it
        private long promised; // by its head; -1: nothing
        private BodyPace.@Nullable Watch pace;

        Reception(HttpServerRequest request, ErrorForm errors, Arrival arrival, String requestId) {
            super(BodyReceiver.this.metrics, requestId);
            this.request = request;
            this.errors = errors;
            this.arrival = arrival;
            this.context = VertxRequest.context();
            this.visit = Visits.of(context);
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
                pace = bodyPace.watch(context, this::received, this::tooSlow);
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
                return;
            }
            Visit.Exceeded exceeded = visit == null ? null : visit.reserve(sofar.length());
            if (visit != null && exceeded != null) {
                visit.tell(request.response()::putHeader);
                refuse(rateLimited(exceeded));
                VertxRequest.discard(request, options.bodyLinger().toMillis());
            }
        }

        private void complete() {
            unwatch();
            if (refused) {
                return;
            }
            memory.belongsTo(context);
            start();
        }

        @Override
        Runnable run() {
            Buffer complete = body == null ? Buffer.buffer(0) : body;
            body = null;
            return arrival.complete(context, request, requestId, complete, this::clientGone);
        }

        @Override
        ClientRequest client() {
            return new VertxRequest(request, errors);
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
            VertxRequest.discard(request, options.bodyLinger().toMillis());
        }

        private void tooSlow() {
            refuse(new GatewayError.BodyTooSlow(bodyPace.span()));
            VertxRequest.discard(request, options.bodyLinger().toMillis());
        }

        private void noMemory() {
            metrics.noMemory();
            answer(noRoom(options.retryAfter()));
            VertxRequest.discard(request, options.bodyLinger().toMillis());
        }

        @Override
        void clientGone() {
            unwatch();
            memory.free();
            body = null;
            super.clientGone();
        }
    }

    /** The answer to a client that has used up what it may. */
    public static GatewayError rateLimited(Visit.Exceeded exceeded) {
        return new GatewayError.RateLimited(
                exceeded.what(), exceeded.limit(), Duration.ofNanos(exceeded.nanos()));
    }

    /** The answer where the bodies of all requests leave no room for another one. */
    public static GatewayError noRoom(Duration retryAfter) {
        return new GatewayError.Overloaded(
                503,
                "The requests that wait for their answers take all the memory there is for them",
                retryAfter);
    }

    /** -1 when there is none; Netty has refused what is not a number. */
    public static long contentLength(MultiMap headers) {
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
