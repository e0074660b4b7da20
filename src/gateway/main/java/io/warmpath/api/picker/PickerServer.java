package io.warmpath.api.picker;

import io.vertx.core.Handler;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.api.extproc.HealthCheck;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The endpoint picker's gRPC services: {@code envoy.service.ext_proc.v3.ExternalProcessor} and
 * {@code grpc.health.v1.Health}. One for all event loops; handlers run on that of the connection.
 */
public final class PickerServer implements Handler<HttpServerRequest> {
    private static final String PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
    private static final String CHECK = "/grpc.health.v1.Health/Check";

    private static final int MOST_HEALTH_BYTES = 4 << 10;

    /** Room for four messages of a proxy's largest kind before it has to wait. */
    private static final int STREAM_WINDOW = 4 << 20;

    private static final int CONNECTION_WINDOW = 64 << 20;

    /**
     * Of one connection. A proxy has one for each of its threads, with a stream for each request
     * that is under way; Envoy opens another one where these are not enough. Its own bound on
     * requests to a service is 1,024 over all threads, and 40,000 as the picker's page sets it: ten
     * threads' worth of this.
     */
    static final int MOST_STREAMS = 4096;

    /** Services of a process that is there, whatever it can do. */
    private static final Set<String> ALIVE = Set.of("liveness");

    /** Services of one that has what it needs to choose. */
    private static final Set<String> READY =
            Set.of("", "readiness", "envoy.service.ext_proc.v3.ExternalProcessor");

    private final PickerParts parts;
    private final Endpoints endpoints;
    private final Unlearnt unlearnt;
    private final Supplier<String> notReady;
    private final RawRequests running;
    private final Calls calls;

    /**
     * @param notReady why nobody should ask now; empty: ask
     * @param running counts the requests that whoever stops the process has to wait for
     */
    public PickerServer(PickerParts parts, Supplier<String> notReady, RawRequests running) {
        this.parts = parts;
        this.endpoints = new Endpoints(parts.fleet());
        this.unlearnt = new Unlearnt(parts.fleet(), parts.random());
        this.notReady = notReady;
        this.running = running;
        this.calls = new Calls(parts);
    }

    /**
     * What a proxy needs of a connection on which all requests of one of its threads run: many
     * streams at once, room for bodies, and resets, by which it ends each of its streams.
     */
    public static HttpServerOptions options() {
        return new HttpServerOptions()
                .setHttp2ClearTextEnabled(true)
                .setHttp2ConnectionWindowSize(CONNECTION_WINDOW)
                .setHttp2RstFloodMaxRstFramePerWindow(Integer.MAX_VALUE) // see FrameGuard
                .setIdleTimeout(0)
                .setInitialSettings(
                        new Http2Settings()
                                .setMaxConcurrentStreams(MOST_STREAMS)
                                .setInitialWindowSize(STREAM_WINDOW)
                                .setHeaderTableSize(4096)
                                .setMaxHeaderListSize(64 << 10)
                                .setPushEnabled(false));
    }

    @Override
    public void handle(HttpServerRequest request) {
        if (calls.areTooMany()) {
            parts.meters().shed(PickerMeters.Shed.STREAMS);
            new Refused(
                    request,
                    GrpcCall.RESOURCE_EXHAUSTED,
                    "as many streams are open as this picker has memory for: add another, or"
                            + " memory");
            return;
        }
        switch (request.path()) {
            case PROCESS -> new PickerStream(parts, endpoints, unlearnt, running, calls, request);
            case CHECK -> new Check(request);
            default -> new Refused(request, GrpcCall.UNIMPLEMENTED, "no such method");
        }
    }

    private boolean serving(String service) {
        return ALIVE.contains(service)
                || (notReady.get().isEmpty() && !parts.fleet().snapshot().workers().isEmpty());
    }

    /** One question about health. */
    private final class Check implements GrpcCall.Listener {
        private final GrpcCall call;

        Check(HttpServerRequest request) {
            call = new GrpcCall(request, calls, MOST_HEALTH_BYTES, this);
        }

        @Override
        public void message(byte[] b, int from, int length) {
            String service = HealthCheck.service(b, from, length);
            if (ALIVE.contains(service) || READY.contains(service)) {
                call.send(HealthCheck.answer(serving(service)));
                call.end(GrpcCall.OK, "");
            } else {
                call.end(GrpcCall.NOT_FOUND, "unknown service");
            }
        }

        @Override
        public void over() {
            // It was answered with its one message.
        }

        @Override
        public void silent() {
            call.end(GrpcCall.DEADLINE_EXCEEDED, "no question came");
        }
    }

    /** A call that is answered by what it is. */
    private final class Refused implements GrpcCall.Listener {
        Refused(HttpServerRequest request, int status, String why) {
            new GrpcCall(request, calls, MOST_HEALTH_BYTES, this).end(status, why);
        }

        @Override
        public void message(byte[] b, int from, int length) {
            // It was answered.
        }

        @Override
        public void over() {
            // As above.
        }

        @Override
        public void silent() {
            // As above.
        }
    }
}
