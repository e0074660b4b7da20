package io.warmpath.api.admin;

import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.api.client.ClientApis;
import io.warmpath.api.direct.DirectApi;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** {@code /router/explain} for operators, who need no client's key for it. */
@Path("/router/ask")
public class AskResource {
    private final ClientApis clients;

    public AskResource(ClientApis clients) {
        this.clients = clients;
    }

    @POST
    @NonBlocking
    @Operation(
            summary = "Who holds how much of a prompt, and where it would go now",
            description = "The answer of /router/explain, for operators. Nothing is booked.")
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = "application/json",
                            schema = @Schema(ref = "RouterQuestion")))
    @APIResponse(
            responseCode = "200",
            description = "The answer",
            content = @Content(mediaType = "application/json", schema = @Schema(ref = "Explained")))
    public void ask(@Context ServerRequestContext rest) {
        clients.requests().ofOperator(rest, clients.direct().question(DirectApi.Ask.EXPLAIN));
    }
}
