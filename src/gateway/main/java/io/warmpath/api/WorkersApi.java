package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.DuplicateWorkerException;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.FleetSources;
import io.warmpath.fleet.LoadPoll;
import io.warmpath.fleet.MetadataException;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerStatus;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Operators' view of the fleet: {@code GET /workers}, {@code POST /workers}, {@code GET}, {@code
 * PATCH} and {@code DELETE /workers/{name or id}}.
 *
 * <p>Routes run on the event loop; what locks the registry runs on Vert.x's workers.
 */
public final class WorkersApi {
    /** How errors are answered; the one mapper of this package. */
    @FunctionalInterface
    public interface Errors {
        void respond(HttpServerResponse response, GatewayError error, String requestId);
    }

    private static final Logger LOG = Logger.getLogger(WorkersApi.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Before the routes of the runtime, like all of ours. */
    private static final int FIRST = -1000;

    private static final int MAX_BODY_BYTES = 1 << 20;

    private final FleetRegistry fleet;
    private final FleetSources sources;
    private final AddressGuard addresses;
    private final LongFunction<Map<Integer, LoadPoll.Seen>> loads;
    private final AdminAccess access;
    private final Errors errors;
    private final boolean followsEvents;
    private final Function<EngineKind, Set<String>> drifted;
    private final LongFunction<PinSupport> pins;
    private final Function<Worker, Map<String, String>> tokens;

    /**
     * @param addresses where workers may be
     * @param loads what a worker's engine last said of its ranks
     * @param followsEvents false: nobody here listens to engines' events, so that they, or what
     *     relays them, may stop sending
     * @param drifted which prompts have other ids here than on engines of a kind
     * @param pins how a worker keeps what clients pin, by its id
     * @param tokens where those of a worker's models come from, by model
     */
    public WorkersApi(
            FleetRegistry fleet,
            FleetSources sources,
            AddressGuard addresses,
            LongFunction<Map<Integer, LoadPoll.Seen>> loads,
            AdminAccess access,
            Errors errors,
            boolean followsEvents,
            Function<EngineKind, Set<String>> drifted,
            LongFunction<PinSupport> pins,
            Function<Worker, Map<String, String>> tokens) {
        this.pins = pins;
        this.tokens = tokens;
        this.fleet = fleet;
        this.sources = sources;
        this.addresses = addresses;
        this.loads = loads;
        this.access = access;
        this.errors = errors;
        this.followsEvents = followsEvents;
        this.drifted = drifted;
    }

    public void mount(Router router) {
        router.route("/workers").order(FIRST).handler(this::collection);
        router.route("/workers/:worker").order(FIRST).handler(this::one);
    }

    private Map<String, Object> json(WorkerStatus status) {
        Worker worker = status.worker();
        return WorkerJson.of(
                status,
                sources.sources(worker.url()),
                loads.apply(worker.id()),
                followsEvents,
                drifted.apply(worker.kind()),
                pins.apply(worker.id()),
                tokens.apply(worker));
    }

    private void collection(RoutingContext rc) {
        if (!access.admits(rc, "GET, POST")) {
            return;
        }
        if (rc.request().method().equals(HttpMethod.GET)) {
            rc.request().resume(); // Quarkus hands requests over paused
            List<Object> workers = fleet.status().stream().map(s -> (Object) json(s)).toList();
            answer(rc, 200, Map.of("object", "list", "data", workers));
        } else {
            read(rc, body -> sources.add(spec(rc, () -> WorkerJson.spec(body.getBytes()))));
        }
    }

    private void one(RoutingContext rc) {
        if (!access.admits(rc, "GET, PATCH, DELETE")) {
            return;
        }
        HttpMethod method = rc.request().method();
        WorkerStatus status = fleet.find(rc.pathParam("worker")).orElse(null);
        if (status != null && method.equals(HttpMethod.PATCH)) {
            URI url = status.worker().url();
            read(
                    rc,
                    body -> sources.change(spec(rc, () -> WorkerJson.patch(url, body.getBytes()))));
            return;
        }
        rc.request().resume();
        if (status == null) {
            fail(rc, new GatewayError.NoSuchRoute(method.name(), rc.normalizedPath()));
        } else if (method.equals(HttpMethod.GET)) {
            answer(rc, 200, json(status));
        } else {
            blocking(
                    rc,
                    () -> {
                        sources.withdraw(status.worker().url());
                        return status.worker();
                    },
                    () -> leaving(status));
        }
    }

    private void read(RoutingContext rc, Function<Buffer, Worker> change) {
        HttpServerRequest request = rc.request();
        String type = request.getHeader("content-type");
        if (type == null || !type.startsWith("application/json")) {
            request.resume();
            fail(rc, new GatewayError.BadRequest("", "Send the worker as application/json."));
            return;
        }
        Buffer body = Buffer.buffer();
        request.handler(
                chunk -> {
                    if (body.length() <= MAX_BODY_BYTES) {
                        body.appendBuffer(chunk);
                    }
                });
        request.exceptionHandler(e -> LOG.debugf(e, "A worker's record broke off"));
        request.endHandler(
                end -> {
                    if (body.length() > MAX_BODY_BYTES) {
                        fail(rc, new GatewayError.BodyTooLarge(MAX_BODY_BYTES));
                    } else {
                        blocking(rc, () -> change.apply(body), Map::of);
                    }
                });
        request.resume();
    }

    private WorkerSpec spec(RoutingContext rc, Supplier<WorkerSpec> read) {
        try {
            WorkerSpec spec = read.get();
            addresses
                    .refusal(spec, AdminAccess.isOfThisMachine(rc.request()))
                    .ifPresent(
                            why -> {
                                throw new IllegalArgumentException(why);
                            });
            return spec;
        } catch (MetadataException e) {
            throw new GatewayException(
                    new GatewayError.BadRequest(e.path(), String.valueOf(e.getMessage())));
        } catch (IllegalArgumentException e) {
            throw new GatewayException(
                    new GatewayError.BadRequest("", String.valueOf(e.getMessage())));
        }
    }

    /** An idle worker that drains may have gone before it can be shown. */
    private Map<String, Object> leaving(WorkerStatus last) {
        Map<String, Object> json = json(last);
        json.put("state", "draining");
        return json;
    }

    /**
     * Changes the fleet off the event loop, then answers 202 with the worker as it is by then.
     *
     * @param gone the answer when it is there no more
     */
    private void blocking(
            RoutingContext rc, Callable<Worker> change, Supplier<Map<String, Object>> gone) {
        rc.vertx()
                .executeBlocking(change, false)
                .onSuccess(
                        worker ->
                                answer(
                                        rc,
                                        202,
                                        fleet.find(worker.name()).map(this::json).orElseGet(gone)))
                .onFailure(failure -> fail(rc, explained(rc, failure)));
    }

    private static GatewayError explained(RoutingContext rc, Throwable failure) {
        return switch (failure) {
            case GatewayException e -> e.error();
            case DuplicateWorkerException e ->
                    new GatewayError.BadRequest("url", String.valueOf(e.getMessage()));
            default -> {
                LOG.errorf(failure, "Request %s failed", AdminAccess.requestId(rc));
                yield new GatewayError.Internal(AdminAccess.requestId(rc));
            }
        };
    }

    private void fail(RoutingContext rc, GatewayError error) {
        errors.respond(rc.response(), error, AdminAccess.requestId(rc));
    }

    private static void answer(RoutingContext rc, int status, Object body) {
        HttpServerResponse response = rc.response();
        if (response.ended() || response.closed()) {
            return; // the operator has gone
        }
        response.setStatusCode(status).putHeader("content-type", "application/json");
        response.end(Buffer.buffer(JSON.valueToTree(body).toString()));
    }
}
