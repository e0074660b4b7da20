package io.warmpath.api.admin;

import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.warmpath.api.client.ClientResource;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.inject.Provider;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.mapping.RuntimeResource;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Lets those in who may use resources for operators: all but each {@link ClientResource}, which
 * asks for a client's key itself.
 */
@jakarta.ws.rs.ext.Provider
@NonBlocking
public class AdminFilter implements ContainerRequestFilter {
    private final Provider<AdminAccess> access;

    /** {@code access}: there when requests are: the runtime makes this when it is built. */
    public AdminFilter(Provider<AdminAccess> access) {
        this.access = access;
    }

    @Override
    public void filter(ContainerRequestContext context) {
        ResteasyReactiveRequestContext rest = rest(context);
        if (isForClients(rest.getTarget())) {
            return;
        }
        AdminAccess asked = access.get();
        HttpServerRequest request = rest.unwrap(HttpServerRequest.class);
        asked.refusal(request)
                .ifPresent(
                        why -> {
                            throw forbidden(why);
                        });
        if (asked.asksForUser()) {
            waitForUser(asked, request, (ResteasyReactiveContainerRequestContext) context);
        }
    }

    private static GatewayException forbidden(String why) {
        return new GatewayException(new GatewayError.Forbidden(why));
    }

    private static void waitForUser(
            AdminAccess asked,
            HttpServerRequest request,
            ResteasyReactiveContainerRequestContext waiting) {
        SocketAddress caller = request.remoteAddress();
        SocketAddress own = request.localAddress();
        waiting.suspend();
        Thread.ofVirtual()
                .name("admin-caller")
                .start(
                        () ->
                                asked.refusalOfUser(caller, own)
                                        .ifPresentOrElse(
                                                why -> waiting.resume(forbidden(why)),
                                                waiting::resume));
    }

    static boolean isForClients(RuntimeResource resource) {
        return ClientResource.class.isAssignableFrom(resource.getResourceClass());
    }

    static ResteasyReactiveRequestContext rest(ContainerRequestContext context) {
        return (ResteasyReactiveRequestContext)
                ((ResteasyReactiveContainerRequestContext) context).getServerRequestContext();
    }
}
