package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.messages.MessagesApi;
import io.warmpath.api.messages.MessagesErrors;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.inject.Provider;
import jakarta.ws.rs.NotAllowedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.core.CurrentRequestManager;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.handlers.ClassRoutingHandler;
import org.jboss.resteasy.reactive.server.mapping.RequestMapper;
import org.jboss.resteasy.reactive.server.mapping.RuntimeResource;
import org.jboss.resteasy.reactive.server.spi.ServerRestHandler;

/** Whatever goes wrong in a resource, or before one is found, as {@link ErrorMapper} says it. */
@jakarta.ws.rs.ext.Provider
public class ResourceErrors implements ExceptionMapper<Throwable> {
    private static final Logger LOG = Logger.getLogger(ResourceErrors.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long LINGER_MILLIS = 1_000;

    private static final RequestIds NAMES =
            new RequestIds(() -> ThreadLocalRandom.current().nextLong());

    /** As the header Allow names them. */
    private static final List<String> METHODS = List.of("GET", "POST", "PATCH", "DELETE");

    private final Provider<AdminAccess> access;

    /** {@code access}: there when requests are: the runtime makes this when it is built. */
    public ResourceErrors(Provider<AdminAccess> access) {
        this.access = access;
    }

    @Override
    public Response toResponse(Throwable failure) {
        ResteasyReactiveRequestContext rest = CurrentRequestManager.get();
        HttpServerRequest request = rest.unwrap(HttpServerRequest.class);
        List<RuntimeResource> meant = meant(failure, rest);
        boolean operators = !meant.stream().allMatch(AdminFilter::isForClients);
        String id = operators ? AdminAccess.requestId(request) : NAMES.of(request.headers());
        GatewayError error = error(failure, rest, request, id, operators, meant);
        // Its body, if any, has not been read, or not to its end; threads of our own have all of
        // it.
        Context context = Vertx.currentContext();
        if (Context.isOnEventLoopThread()) {
            VertxRequest.discard(request, LINGER_MILLIS);
        } else if (context != null) {
            context.runOnContext(v -> VertxRequest.discard(request, LINGER_MILLIS));
        }
        Response.ResponseBuilder response = Response.status(error.httpStatus());
        ErrorMapper.headers(error, id, response::header);
        if (rest.serverRequest().getRequestNormalisedPath().startsWith(MessagesApi.PATH)) {
            response.header(MessagesErrors.REQUEST_ID, id);
            return response.entity(MessagesErrors.body(error, id)).build();
        }
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
            String id,
            boolean operators,
            List<RuntimeResource> meant) {
        String method = request.method().name();
        return switch (failure) {
            case GatewayException e -> e.error();
            case NotFoundException e -> new GatewayError.NoSuchRoute(method, request.path());
            // Found before anybody has asked who asks.
            case NotAllowedException e ->
                    Optional.of(operators)
                            .filter(asked -> asked)
                            .flatMap(asked -> access.get().refusal(request))
                            .<GatewayError>map(GatewayError.Forbidden::new)
                            .orElseGet(
                                    () ->
                                            new GatewayError.MethodNotAllowed(
                                                    method,
                                                    rest.serverRequest().getRequestNormalisedPath(),
                                                    meant.stream()
                                                            .map(RuntimeResource::getHttpMethod)
                                                            .collect(Collectors.joining(", "))));
            default -> {
                LOG.errorf(failure, "Request %s %s failed", method, request.path());
                yield new GatewayError.Internal(id);
            }
        };
    }

    /** Of the path where the method was wrong, one for each other method; none for no path. */
    private static List<RuntimeResource> meant(
            Throwable failure, ResteasyReactiveRequestContext rest) {
        if (!(failure instanceof NotAllowedException)) {
            return rest.getTarget() == null ? List.of() : List.of(rest.getTarget());
        }
        var found =
                new RequestMapper<>(rest.getDeployment().getClassMappers())
                        .map(rest.getPathWithoutPrefix());
        String path = found.remaining.isEmpty() ? "/" : found.remaining;
        List<RuntimeResource> meant = new ArrayList<>();
        for (ServerRestHandler handler : found.value.handlers) {
            if (handler instanceof ClassRoutingHandler routing) {
                for (String method : METHODS) {
                    RequestMapper<RuntimeResource> methods = routing.getMappers().get(method);
                    var match = methods == null ? null : methods.map(path);
                    if (match != null) {
                        meant.add(match.value);
                    }
                }
            }
        }
        return meant;
    }
}
