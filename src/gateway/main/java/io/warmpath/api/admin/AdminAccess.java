package io.warmpath.api.admin;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import io.warmpath.api.error.RequestIds;
import io.warmpath.net.LocalPeers;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the admin endpoints: holders of the token, or, when none is configured, the gateway's
 * own user and root on this machine. Immutable, any thread. Asked after routing: the path policies
 * of the runtime can be walked round.
 */
public final class AdminAccess {
    private static final String SCHEME = "bearer ";
    private static final int MAX_REQUEST_ID = 128;
    private static final String NOT_FROM_HERE =
            "Without an admin token this endpoint answers only to this machine itself, asked as"
                    + " localhost; set WARMPATH_ADMIN_TOKEN.";
    private static final String ANOTHER_USER =
            "Without an admin token this endpoint answers only to programs of the gateway's own"
                    + " user and of root; set WARMPATH_ADMIN_TOKEN.";

    /** What proxies add; beside all that begin with one of {@link #BEGINNINGS}. */
    private static final Set<String> PASSED_ON =
            Set.of(
                    ("forwarded via x-real-ip x-client-ip x-cluster-client-ip"
                                    + " x-original-forwarded-for x-amzn-trace-id x-azure-clientip"
                                    + " true-client-ip fastly-client-ip")
                            .split(" ", -1));

    private static final List<String> BEGINNINGS = List.of("x-forwarded-", "x-envoy-", "cf-");

    /** What browsers add: whose page asks. */
    private static final Set<String> BROWSERS = Set.of("origin", "referer");

    private static final String FETCH = "sec-fetch-";
    private static final String FETCH_SITE = "sec-fetch-site";

    private final byte @Nullable [] token;
    private final LocalPeers peers;

    /** {@code token}: empty: callers on this machine only. */
    public AdminAccess(Optional<String> token) {
        this(token, new LocalPeers());
    }

    /** {@code peers}: tell whose programs call. */
    AdminAccess(Optional<String> token, LocalPeers peers) {
        this.token = token.map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
        this.peers = peers;
    }

    /** The operator's, when it is no longer than ids are. */
    static String requestId(HttpServerRequest request) {
        String given = request.getHeader(RequestIds.HEADER);
        return given == null || given.length() > MAX_REQUEST_ID ? "admin" : given;
    }

    /**
     * Why the caller may not, or empty when it may; then {@link #asksForUser} says whether there is
     * one more question.
     */
    public Optional<String> refusal(HttpServerRequest request) {
        if (token != null) {
            return presentsToken(request.getHeader("authorization"))
                    ? Optional.empty()
                    : Optional.of(
                            "This endpoint needs the admin token: Authorization: Bearer TOKEN.");
        }
        return isOfThisMachine(request) ? Optional.empty() : Optional.of(NOT_FROM_HERE);
    }

    /** {@link #refusalOfUser} is to be asked, too. */
    boolean asksForUser() {
        return token == null && peers.areKnown();
    }

    /**
     * The same by whose program it is: a proxy that hides itself is another user's, mostly. Not on
     * an event loop.
     */
    Optional<String> refusalOfUser(SocketAddress caller, SocketAddress own) {
        return peers.isOfThisUser(caller, own) ? Optional.empty() : Optional.of(ANOTHER_USER);
    }

    /**
     * The caller is a process of this machine that asks this machine, not what one of them passes
     * on: a proxy makes every client look local, and so does a page in a browser, whose own name
     * may lead here. The console is a page too: one that this address itself has given.
     */
    static boolean isOfThisMachine(HttpServerRequest request) {
        HostAndPort asked = request.authority();
        return isLoopback(request.remoteAddress().hostAddress())
                && request.version() != HttpVersion.HTTP_1_0 // proxies' own, curl's never
                && asked != null
                && isLocalName(asked.host())
                && request.headers().names().stream().noneMatch(AdminAccess::isOfPassing)
                && (request.headers().names().stream().noneMatch(AdminAccess::isOfBrowser)
                        || isOfOwnPage(request, asked));
    }

    private static boolean isOfBrowser(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return BROWSERS.contains(name) || name.startsWith(FETCH);
    }

    /**
     * The browser says that a page of this very address asks. Behind a proxy the page has another
     * address, which its referer tells whatever the proxy has made of the host.
     */
    private static boolean isOfOwnPage(HttpServerRequest request, HostAndPort asked) {
        String own = request.scheme() + "://" + asked;
        String origin = request.getHeader("origin");
        String referer = request.getHeader("referer");
        return "same-origin".equals(request.getHeader(FETCH_SITE))
                && (origin == null || origin.equals(own))
                && referer != null
                && referer.startsWith(own + "/");
    }

    private static boolean isOfPassing(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return PASSED_ON.contains(name) || BEGINNINGS.stream().anyMatch(name::startsWith);
    }

    /** Says so itself: nothing is looked up. */
    private static boolean isLocalName(String host) {
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        String name = bracketed ? host.substring(1, host.length() - 1) : host;
        try {
            return name.equalsIgnoreCase("localhost")
                    || InetAddress.ofLiteral(name).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            return false; // another name
        }
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
