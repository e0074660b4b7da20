package io.warmpath.access;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which pages in browsers may ask what clients ask, and by which names a gateway may be asked that
 * wants no key. Browsers say whose page asks in headers that no page can change. Programs send none
 * of them. Immutable; any thread.
 */
public final class PageRules {
    private static final String ALL = "*";

    /** What no name of the public DNS ends with, so that no site can have it lead here. */
    private static final List<String> OF_NO_SITE = List.of(".localhost", ".local", ".internal");

    private final List<String> origins;
    private final Set<String> hosts;
    private final boolean all;

    /** {@code origins}: of the pages that may, as browsers write them; {@code *} alone: all. */
    public PageRules(List<String> origins) {
        this.origins = List.copyOf(origins);
        this.all = origins.contains(ALL);
        this.hosts =
                origins.stream()
                        .map(o -> name(o.substring(o.indexOf("//") + 2)))
                        .collect(Collectors.toUnmodifiableSet());
    }

    /** Pages of this origin may ask. */
    public boolean lists(String origin) {
        return all || origins.contains(origin);
    }

    /**
     * @param from values of {@code Origin}
     * @param sites values of {@code Sec-Fetch-Site}
     * @param host what the request asks for, with its port
     * @return why a page may not ask; null: it may, or no page asks
     */
    public @Nullable String refusal(List<String> from, List<String> sites, String host) {
        if (all) {
            return null;
        }
        for (String origin : from) {
            if (!isOwn(origin, host) && !lists(origin)) {
                return mayNot(origin);
            }
        }
        boolean listed = !from.isEmpty() && lists(from.getFirst());
        for (String site : sites) {
            if (!listed && !site.equals("same-origin") && !site.equals("none")) {
                return mayNot(site.equals("same-site") ? "another port or host" : "other sites");
            }
        }
        return null;
    }

    private static String mayNot(String whose) {
        return "Pages of "
                + whose
                + " may not call this gateway; --cors-origins (warmpath.http.cors.origins) lists"
                + " those that may.";
    }

    /** A proxy in front may have ended TLS: the scheme does not count. */
    private static boolean isOwn(String origin, String host) {
        int scheme = origin.indexOf("://");
        String own = origin.substring(scheme < 0 ? 0 : scheme + 3);
        return scheme > 0
                && (own.equalsIgnoreCase(host)
                        || (own + ":443").equalsIgnoreCase(host)
                        || (own + ":80").equalsIgnoreCase(host));
    }

    /**
     * Whether a program on this machine may ask for {@code host} without a key: a page can have its
     * own site's name lead to loopback, and then asks as if it were the gateway's. No site has an
     * address, a name without a dot, or one of {@link #OF_NO_SITE}; no browser asks for none.
     */
    public boolean allowsName(String host) {
        String name = name(host);
        return all
                || (name.indexOf('.') < 0 && name.indexOf(':') < 0)
                || OF_NO_SITE.stream().anyMatch(name::endsWith)
                || isAddress(name)
                || hosts.contains(name);
    }

    /** Why it may not. */
    public static String refusalOfName(String host) {
        return "Without API keys this gateway answers its own machine only as localhost, an address or a"
                + " name without a dot: a page of another site may be asking for "
                + host
                + ". Let --cors-origins (warmpath.http.cors.origins) list http://"
                + host
                + ", or configure API keys.";
    }

    /** In lower case, without the port, the brackets and the dot of the root. */
    private static String name(String host) {
        int end = host.endsWith("]") ? host.length() : host.lastIndexOf(':');
        String name = end < 0 ? host : host.substring(0, end);
        if (name.startsWith("[") && name.endsWith("]")) {
            return name.substring(1, name.length() - 1);
        }
        return (name.endsWith(".") ? name.substring(0, name.length() - 1) : name)
                .toLowerCase(Locale.ROOT);
    }

    private static boolean isAddress(String name) {
        int first = name.isEmpty() ? 'x' : name.charAt(0);
        if (name.indexOf(':') < 0 && (first < '0' || first > '9')) {
            return false;
        }
        try {
            return !InetAddress.ofLiteral(name).getHostAddress().isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
