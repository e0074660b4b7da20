package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.inject.Provider;
import jakarta.ws.rs.NotAllowedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.core.CurrentRequestManager;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.handlers.ClassRoutingHandler;
import org.jboss.resteasy.reactive.server.mapping.RequestMapper;
import org.jboss.resteasy.reactive.server.spi.ServerRestHandler;

/** Whatever goes wrong in a resource, or before one is found, as {@link ErrorMapper} says it. */
@jakarta.ws.rs.ext.Provider
public class AdminErrors implements ExceptionMapper<Throwable> {
    private static final Logger LOG = Logger.getLogger(AdminErrors.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long LINGER_MILLIS = 1_000;

    private static final RequestIds NAMES =
            new RequestIds(() -> ThreadLocalRandom.current().nextLong());

    /** As the header Allow names them. */
    private static final List<String> METHODS = List.of("GET", "POST", "PATCH", "DELETE");

    private final Provider<AdminAccess> access;

    /**
     * @param access there when requests are: the runtime makes this when it is built
     */
    public AdminErrors(Provider<AdminAccess> access) {
        this.access = access;
    }

    @Override
    public Response toResponse(Throwable failure) {
        ResteasyReactiveRequestContext rest = CurrentRequestManager.get();
        HttpServerRequest request = rest.unwrap(HttpServerRequest.class);
        // Whoever asks for a path that nobody has is no operator.
        String id =
                failure instanceof NotFoundException
                        ? NAMES.of(request.headers())
                        : AdminAccess.requestId(request);
        GatewayError error = error(failure, rest, request, id);
        if (Context.isOnEventLoopThread()) {
            VertxRequest.discard(request, LINGER_MILLIS); // its body, if any, has not been read
        }
        Response.ResponseBuilder response = Response.status(error.httpStatus());
        ErrorMapper.headers(error, id, response::header);
        return response.entity(body(error)).build();
    }

    private static byte[] body(GatewayError error) {
        byte[] body = ErrorMapper.body(error).getBytes();
        if (!(error instanceof GatewayError.EventsOutOfOrder order)) {
            return body;
        }
        try {
            ObjectNode json = (ObjectNode) JSON.readTree(body);
            json.put("epoch", order.epoch());
            json.put("next_sequence", order.sequence());
            return JSON.writeValueAsBytes(json);
        } catch (IOException e) {
            throw new UncheckedIOException("our own JSON", e);
        }
    }

    private GatewayError error(
            Throwable failure,
            ResteasyReactiveRequestContext rest,
            HttpServerRequest request,
            String id) {
        String method = request.method().name();
        return switch (failure) {
            case GatewayException e -> e.error();
            case NotFoundException e ->
                    new GatewayError.NoSuchRoute(
                            method, rest.serverRequest().getRequestNormalisedPath());
            // Found before anybody has asked who asks.
            case NotAllowedException e ->
                    access.get()
                            .refusal(request)
                            .<GatewayError>map(GatewayError.Forbidden::new)
                            .orElseGet(
                                    () ->
                                            new GatewayError.MethodNotAllowed(
                                                    method,
                                                    rest.serverRequest().getRequestNormalisedPath(),
                                                    allowed(rest)));
            default -> {
                LOG.errorf(failure, "Request %s %s failed", method, request.path());
                yield new GatewayError.Internal(id);
            }
        };
    }

    /** The methods of the resource that has the path. */
    private static String allowed(ResteasyReactiveRequestContext rest) {
        var found =
                new RequestMapper<>(rest.getDeployment().getClassMappers())
                        .map(rest.getPathWithoutPrefix());
        for (ServerRestHandler handler : found.value.handlers) {
            if (handler instanceof ClassRoutingHandler routing) {
                String path = found.remaining.isEmpty() ? "/" : found.remaining;
                var methods = routing.getMappers();
                return METHODS.stream()
                        .filter(m -> methods.containsKey(m) && methods.get(m).map(path) != null)
                        .collect(Collectors.joining(", "));
            }
        }
        return "";
    }
}
