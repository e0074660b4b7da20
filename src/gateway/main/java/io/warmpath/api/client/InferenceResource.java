package io.warmpath.api.client;

import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.inference.InferenceEndpoint;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/**
 * OpenAI's API, and what engines have beside it: each request is passed on to an engine. The paths
 * are those of {@code InferencePath.ALL}, which the inlet past the codec takes.
 */
@Path("/")
@NonBlocking
public class InferenceResource implements ClientResource {
    private final ClientRequests requests;
    private final InferenceEndpoint inference;

    public InferenceResource(ClientApis apis) {
        this.requests = apis.requests();
        this.inference = apis.inference();
    }

    @POST
    @Path("v1/chat/completions")
    public void chat(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/completions")
    public void completions(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/responses")
    public void responses(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/embeddings")
    public void embeddings(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/rerank")
    public void rerank(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v2/rerank")
    public void rerankV2(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("rerank")
    public void rerankOfEngines(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/score")
    public void score(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("score")
    public void scoreOfEngines(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/classify")
    public void classify(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("classify")
    public void classifyOfEngines(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("pooling")
    public void pooling(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/moderations")
    public void moderations(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/audio/transcriptions")
    public void transcriptions(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/audio/translations")
    public void translations(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/audio/speech")
    public void speech(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/images/generations")
    public void imageGenerations(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/images/edits")
    public void imageEdits(@Context ServerRequestContext rest) {
        pass(rest);
    }

    @POST
    @Path("v1/images/variations")
    public void imageVariations(@Context ServerRequestContext rest) {
        pass(rest);
    }

    private void pass(ServerRequestContext rest) {
        requests.take(rest, ClientRequests.Need.CHARGED, ErrorForm.OPENAI, inference::handle);
    }
}
