package io.warmpath.api.admin;

import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.error.RequestIds;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the admin endpoints: holders of the token, or, when none is configured, callers on
 * this machine. Immutable, any thread.
 *
 * <p>Asked after routing: the path policies of the runtime can be walked round.
 */
public final class AdminAccess {
    private static final String SCHEME = "bearer ";
    private static final int MAX_REQUEST_ID = 128;

    private final byte @Nullable [] token;

    /**
     * @param token empty: callers from loopback addresses only
     */
    public AdminAccess(Optional<String> token) {
        this.token = token.map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
    }

    /** The operator's, when it is no longer than ids are. */
    static String requestId(HttpServerRequest request) {
        String given = request.getHeader(RequestIds.HEADER);
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
