package io.warmpath.api.admin;

import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.ext.Provider;

/**
 * Makes path and method alone say which resource is meant. Operators' answers are JSON whatever is
 * accepted, so REST does not see the header {@code Accept}; engines do. HEAD and OPTIONS, which the
 * runtime would answer itself, OPTIONS without asking who asks, become names that no resource has.
 */
@Provider
@PreMatching
@NonBlocking
public class PathAndMethod implements ContainerRequestFilter {
    @Override
    public void filter(ContainerRequestContext context) {
        Object accept = AdminFilter.rest(context).getHeader(HttpHeaders.ACCEPT, true);
        if (accept != null && !accept.equals(MediaType.WILDCARD)) {
            context.getHeaders().remove(HttpHeaders.ACCEPT); // from REST's copy
        }
        String method = context.getMethod();
        if (method.equals(HttpMethod.HEAD) || method.equals(HttpMethod.OPTIONS)) {
            context.setMethod("NOT-" + method);
        }
    }
}
