package io.warmpath.api.client;

import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.api.messages.MessagesApi;
import io.warmpath.api.messages.MessagesErrors;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** Anthropic's API. */
@Path("/v1/messages")
@NonBlocking
public class MessagesResource implements ClientResource {
    private final ClientRequests requests;
    private final MessagesApi messages;

    public MessagesResource(ClientApis apis) {
        this.requests = apis.requests();
        this.messages = apis.messages();
    }

    @POST
    public void create(@Context ServerRequestContext rest) {
        requests.withBody(
                rest, ClientRequests.Need.CHARGED, MessagesErrors::respond, messages::create);
    }

    @POST
    @Path("/count_tokens")
    public void count(@Context ServerRequestContext rest) {
        requests.withBody(rest, ClientRequests.Need.KEY, MessagesErrors::respond, messages::count);
    }
}
