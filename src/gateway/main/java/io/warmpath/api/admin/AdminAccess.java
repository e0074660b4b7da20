package io.warmpath.api.admin;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import io.warmpath.api.error.RequestIds;
import io.warmpath.net.LocalPeers;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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

    private static final String ANOTHER_PAGE =
            "Changes are made by the console as this start of the gateway has given it: reload the"
                    + " page.";

    /** Sent by the console: what is in its page. */
    private static final String PAGE = "x-warmpath-console";

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
    private final byte[] page;
    private final LocalPeers peers;

    /**
     * @param token empty: callers on this machine only
     * @param page what the console's page has to show before it may change anything where there is
     *     no token; nobody can guess it
     */
    public AdminAccess(Optional<String> token, String page) {
        this(token, page, new LocalPeers());
    }

    /** {@code peers}: tell whose programs call. */
    AdminAccess(Optional<String> token, String page, LocalPeers peers) {
        this.token = token.map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
        this.page = page.getBytes(StandardCharsets.UTF_8);
        this.peers = peers;
    }

    /**
     * What the console's page is to show later: when a browser of this machine opens it as a page
     * of its own, and empty for everybody else, such as a script that reads it.
     */
    public String page(HttpServerRequest request) {
        HostAndPort asked = request.authority();
        return "navigate".equals(request.getHeader("sec-fetch-mode"))
                        && "document".equals(request.getHeader("sec-fetch-dest"))
                        && asked != null
                        && comesStraight(request, asked)
                ? new String(page, StandardCharsets.UTF_8)
                : "";
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
            return presentsToken(request.headers().getAll("authorization"))
                    ? Optional.empty()
                    : Optional.of(
                            "This endpoint needs the admin token: Authorization: Bearer TOKEN.");
        }
        if (!isOfThisMachine(request)) {
            return Optional.of(NOT_FROM_HERE);
        }
        return changes(request) && isOfPage(request) && !presentsPage(request)
                ? Optional.of(ANOTHER_PAGE)
                : Optional.empty();
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
     * may lead here. The console is a page too: the one below {@code /console/} of this address
     * itself.
     */
    static boolean isOfThisMachine(HttpServerRequest request) {
        HostAndPort asked = request.authority();
        return asked != null
                && comesStraight(request, asked)
                && (!isOfPage(request) || isOfConsole(request, asked));
    }

    private static boolean comesStraight(HttpServerRequest request, HostAndPort asked) {
        return LocalPeers.isLoopback(request.remoteAddress().hostAddress())
                && request.version() != HttpVersion.HTTP_1_0 // proxies' own, curl's never
                && isLocalName(asked.host())
                && request.headers().names().stream().noneMatch(AdminAccess::isOfPassing);
    }

    private static boolean changes(HttpServerRequest request) {
        return !request.method().equals(HttpMethod.GET)
                && !request.method().equals(HttpMethod.HEAD);
    }

    private boolean presentsPage(HttpServerRequest request) {
        return is(Objects.requireNonNullElse(request.getHeader(PAGE), ""), page);
    }

    private static boolean isOfPage(HttpServerRequest request) {
        return request.headers().names().stream().anyMatch(AdminAccess::isOfBrowser);
    }

    private static boolean isOfBrowser(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return BROWSERS.contains(name) || name.startsWith(FETCH);
    }

    /**
     * The browser says that the console of this very address asks. Behind a proxy the page has
     * another address, which its referer tells whatever the proxy has made of the host.
     */
    private static boolean isOfConsole(HttpServerRequest request, HostAndPort asked) {
        String own = request.scheme() + "://" + asked;
        MultiMap headers = request.headers();
        List<String> pages = headers.getAll("referer");
        return headers.getAll(FETCH_SITE).equals(List.of("same-origin"))
                && headers.getAll("origin").stream().allMatch(own::equals)
                && pages.size() == 1
                && pages.getFirst().startsWith(own + "/console/");
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

    /** Once: another reader of two could take the other one. */
    private boolean presentsToken(List<String> shown) {
        String header = shown.size() == 1 ? shown.getFirst() : "";
        if (!header.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            return false;
        }
        return is(header.substring(SCHEME.length()).strip(), token);
    }

    /** Takes as long for any that is wrong. */
    private static boolean is(String given, byte @Nullable [] wanted) {
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), wanted);
    }
}
