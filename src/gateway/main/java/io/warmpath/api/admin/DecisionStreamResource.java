package io.warmpath.api.admin;

import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** The decisions as they are made. For admins: they tell of other callers' requests. */
@Path("/router/decisions/stream")
@NonBlocking
public class DecisionStreamResource {
    private final DecisionStream stream;

    public DecisionStreamResource(DecisionStream stream) {
        this.stream = stream;
    }

    @GET
    @Operation(
            summary = "Routing decisions as they are made and as they end, as server-sent events",
            description =
                    "`hello` names this process. `decisions` has rows as GET /router/decisions has"
                            + " them, without `decision`, and in `skipped` how many more there"
                            + " were. At most four events a second, of 50 rows each; a reader that"
                            + " is too slow misses some.")
    @APIResponse(responseCode = "200", content = @Content(mediaType = "text/event-stream"))
    @Parameter(name = "request_id", in = ParameterIn.QUERY)
    @Parameter(name = "worker", in = ParameterIn.QUERY, description = "Its name")
    @Parameter(name = "tenant", in = ParameterIn.QUERY)
    @Parameter(name = "model", in = ParameterIn.QUERY)
    @Parameter(name = "session", in = ParameterIn.QUERY)
    @Parameter(
            name = "outcome",
            in = ParameterIn.QUERY,
            schema = @Schema(enumeration = {"running", "ok", "failed"}))
    public void follow(@Context UriInfo uri, @Context ServerRequestContext rest) {
        DecisionFilter filter = DecisionFilter.of(new Query(uri, DecisionFilter.NAMES));
        ResteasyReactiveRequestContext context = (ResteasyReactiveRequestContext) rest;
        HttpServerRequest request = context.unwrap(HttpServerRequest.class);
        HttpServerResponse response = request.response();
        stream.open(response, filter);
        request.resume(); // it came paused, and has no body
        // From here on the stream has the response, and REST has nothing to do with it.
        context.suspend();
        context.close();
        response.closeHandler(gone -> stream.left(response));
    }
}
