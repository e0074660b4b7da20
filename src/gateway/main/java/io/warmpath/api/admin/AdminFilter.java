package io.warmpath.api.admin;

import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import jakarta.inject.Provider;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;
import org.jboss.resteasy.reactive.server.spi.ServerHttpRequest;

/** Lets those who may use the resources in; all resources, as every one is for operators. */
@jakarta.ws.rs.ext.Provider
@NonBlocking
public class AdminFilter implements ContainerRequestFilter {
    private final Provider<AdminAccess> access;

    /**
     * @param access there when requests are: the runtime makes this when it is built
     */
    public AdminFilter(Provider<AdminAccess> access) {
        this.access = access;
    }

    @Override
    public void filter(ContainerRequestContext context) {
        access.get()
                .refusal(vertx(context))
                .ifPresent(
                        why -> {
                            throw new GatewayException(new GatewayError.Forbidden(why));
                        });
    }

    static HttpServerRequest vertx(ContainerRequestContext context) {
        return ((ServerHttpRequest)
                        ((ResteasyReactiveContainerRequestContext) context)
                                .getServerRequestContext())
                .unwrap(HttpServerRequest.class);
    }
}
