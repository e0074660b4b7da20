package io.warmpath.api.client;

import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.api.client.ClientRequests.Need;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.direct.DirectApi;
import io.warmpath.api.error.ErrorForm;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** The direct API: the router's answers without a request, and reservations. */
@Path("/router")
@NonBlocking
public class DirectResource implements ClientResource {
    private final ClientRequests requests;
    private final DirectApi direct;

    public DirectResource(ClientApis apis) {
        this.requests = apis.requests();
        this.direct = apis.direct();
    }

    @POST
    @Path("/best_worker")
    public void bestWorker(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT, direct.question(DirectApi.Ask.BEST_WORKER));
    }

    @POST
    @Path("/potential_loads")
    public void potentialLoads(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT, direct.question(DirectApi.Ask.POTENTIAL_LOADS));
    }

    @POST
    @Path("/overlap_scores")
    public void overlapScores(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT, direct.question(DirectApi.Ask.OVERLAP_SCORES));
    }

    @POST
    @Path("/explain")
    public void explain(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT, direct.question(DirectApi.Ask.EXPLAIN));
    }

    @POST
    @Path("/generate")
    public void generate(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT_CHARGED, direct::generate);
    }

    @POST
    @Path("/reservations")
    public void reserve(@Context ServerRequestContext rest) {
        post(rest, Need.DIRECT, direct::reserve);
    }

    @DELETE
    @Path("/reservations/{id}")
    public void release(@Context ServerRequestContext rest, @PathParam("id") String id) {
        requests.withId(
                rest, Need.DIRECT, (request, requestId) -> direct.release(request, id, requestId));
    }

    @POST
    @Path("/reservations/{id}/prefill_complete")
    public void prefillComplete(@Context ServerRequestContext rest, @PathParam("id") String id) {
        requests.withId(
                rest,
                Need.DIRECT,
                (request, requestId) -> direct.prefillComplete(request, id, requestId));
    }

    @POST
    @Path("/reservations/{id}/output_block")
    public void outputBlock(@Context ServerRequestContext rest, @PathParam("id") String id) {
        post(
                rest,
                Need.DIRECT,
                (context, request, requestId, body, gone) ->
                        direct.outputBlock(request, id, requestId, body));
    }

    private void post(ServerRequestContext rest, Need need, BodyReceiver.Arrival arrival) {
        requests.withBody(rest, need, ErrorForm.OPENAI, arrival);
    }
}
