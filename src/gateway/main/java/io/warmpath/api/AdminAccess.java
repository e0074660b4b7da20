package io.warmpath.api;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.fault.GatewayError;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the admin endpoints: holders of the token, or, when none is configured, callers on
 * this machine. Immutable, any thread.
 *
 * <p>Asked inside the handlers, after routing: the path policies of the runtime can be walked
 * round.
 */
public final class AdminAccess {
    private static final String SCHEME = "bearer ";
    private static final int MAX_REQUEST_ID = 128;
    private static final long LINGER_MILLIS = 1_000;

    private final byte @Nullable [] token;

    /**
     * @param token empty: callers from loopback addresses only
     */
    public AdminAccess(Optional<String> token) {
        this.token = token.map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
    }

    /**
     * Lets an operator's request without a body in: of one of these methods, by somebody who may.
     *
     * @param methods as the header Allow has them
     * @return false when it has been answered
     */
    boolean enters(RoutingContext rc, String methods) {
        rc.request().resume(); // Quarkus hands requests over paused
        return admits(rc, methods);
    }

    /** As {@link #enters}, and leaves a request that may have a body paused as it came. */
    boolean admits(RoutingContext rc, String methods) {
        String method = rc.request().method().name();
        String refusal = refusal(rc.request()).orElse(null);
        if (refusal == null && List.of(methods.split(", ", -1)).contains(method)) {
            return true;
        }
        GatewayError error =
                refusal != null
                        ? new GatewayError.Forbidden(refusal)
                        : new GatewayError.MethodNotAllowed(method, rc.normalizedPath(), methods);
        ErrorMapper.respond(rc.response(), error, requestId(rc));
        VertxRequest.discard(rc.request(), LINGER_MILLIS);
        return false;
    }

    /** The operator's, when it is no longer than ids are. */
    static String requestId(RoutingContext rc) {
        String given = rc.request().getHeader(RequestIds.HEADER);
        return given == null || given.length() > MAX_REQUEST_ID ? "admin" : given;
    }

    /** Why the caller may not, or empty when it may. */
    public Optional<String> refusal(HttpServerRequest request) {
        if (token != null) {
            return presentsToken(request.getHeader("authorization"))
                    ? Optional.empty()
                    : Optional.of(
                            "This endpoint needs the admin token: Authorization: Bearer TOKEN.");
        }
        return isOfThisMachine(request)
                ? Optional.empty()
                : Optional.of(
                        "Without an admin token this endpoint answers only to this machine itself;"
                                + " set WARMPATH_ADMIN_TOKEN.");
    }

    /** The caller is a process of this machine, not what one of them passes on. */
    static boolean isOfThisMachine(HttpServerRequest request) {
        // A proxy on this machine makes every client look local, and so does a page in a browser.
        boolean forwarded =
                request.headers().contains("x-forwarded-for")
                        || request.headers().contains("forwarded")
                        || request.headers().contains("origin");
        return !forwarded && isLoopback(request.remoteAddress().hostAddress());
    }

    private boolean presentsToken(@Nullable String header) {
        if (header == null || !header.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            return false;
        }
        byte[] given = header.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(given, token); // takes as long for any wrong token
    }

    /** {@code address}: a literal, null for a socket without one. */
    static boolean isLoopback(@Nullable String address) {
        try {
            return address != null && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
