package io.warmpath.api.client;

import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.api.direct.TokenizeApi;
import io.warmpath.api.error.ErrorForm;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** Text to token ids and back. */
@Path("/")
@NonBlocking
public class TokenizeResource implements ClientResource {
    private final ClientRequests requests;
    private final TokenizeApi tokenize;

    public TokenizeResource(ClientApis apis) {
        this.requests = apis.requests();
        this.tokenize = apis.tokenize();
    }

    @POST
    @Path("tokenize")
    public void tokenize(@Context ServerRequestContext rest) {
        requests.withBody(rest, ClientRequests.Need.KEY, ErrorForm.OPENAI, tokenize::tokenize);
    }

    @POST
    @Path("detokenize")
    public void detokenize(@Context ServerRequestContext rest) {
        requests.withBody(rest, ClientRequests.Need.KEY, ErrorForm.OPENAI, tokenize::detokenize);
    }
}
