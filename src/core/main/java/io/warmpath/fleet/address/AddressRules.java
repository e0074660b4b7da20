package io.warmpath.fleet.address;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which places may be connected to because somebody outside named them. Immutable, any thread; no
 * name is looked up here. A place is judged twice: when it is named, and, where it is a name, by
 * the address that the name leads to, at each connection. Some ranges are special: what listens
 * there takes whoever reaches it for one of its own. They are refused unless an entry lies within
 * them, so {@code *} and {@code 0.0.0.0/0} do not open them.
 */
public final class AddressRules {
    /** The setting that holds the entries, for messages. */
    public static final String KEY = "warmpath.addresses.allowed";

    private static final Set<String> SCHEMES = Set.of("http", "https", "h2", "h2c", "tcp");
    private static final Pattern ENTRY =
            Pattern.compile(
                    "(?:([a-z0-9]+)://)?(\\[[^]]+]|[^\\[\\]]+?)(?::(\\d{1,5})(?:-(\\d{1,5}))?)?");
    private static final Pattern NAME =
            Pattern.compile(
                    "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
                            + "(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

    /** A last part that some resolver reads as a number. */
    private static final Pattern NUMBER = Pattern.compile("(.*\\.)?(\\d+|0x[0-9a-f]*)");

    private static final int MAX_NAME = 253;
    private static final int MAX_PORT = 0xffff;

    /** A range whose addresses must be listed themselves. */
    private record Special(AddressRange range, String what) {
        Special(String range, String what) {
            this(AddressRange.parse(range), what);
        }
    }

    private static final String LOOPBACK = "the loopback of the gateway's own host";
    private static final String METADATA = "a cloud's metadata service";

    private static final List<Special> SPECIALS =
            List.of(
                    new Special("127.0.0.0/8", LOOPBACK),
                    new Special("::1/128", LOOPBACK),
                    new Special("169.254.169.254/32", METADATA),
                    new Special("169.254.170.2/32", METADATA),
                    new Special("169.254.170.23/32", METADATA),
                    new Special("100.100.100.200/32", METADATA),
                    new Special("192.0.0.192/32", METADATA),
                    new Special("168.63.129.16/32", METADATA),
                    new Special("fd00:ec2::254/128", METADATA),
                    new Special("fd00:ec2::23/128", METADATA),
                    new Special("fd20:ce::254/128", METADATA),
                    new Special("169.254.0.0/16", "link-local"),
                    new Special("fe80::/10", "link-local"),
                    new Special("0.0.0.0/8", "no address of a host"),
                    new Special("::/128", "no address of a host"),
                    new Special("224.0.0.0/4", "multicast"),
                    new Special("ff00::/8", "multicast"),
                    new Special("240.0.0.0/4", "reserved"));

    /**
     * One of the list.
     *
     * @param scheme null: any
     * @param name null: none; {@code *} for anywhere, a suffix when it begins with a dot
     * @param range null: none
     * @param path null: no socket file; with a slash at its end all below it
     */
    private record Entry(
            @Nullable String scheme,
            @Nullable String name,
            @Nullable AddressRange range,
            @Nullable String path,
            int from,
            int to) {
        boolean covers(Place place) {
            return path == null
                    && (scheme == null || scheme.equals(place.scheme()))
                    && from <= place.port()
                    && place.port() + place.ports() - 1 <= to;
        }

        boolean named(String host) {
            return name != null
                    && (name.equals("*")
                            || (name.startsWith(".")
                                    ? host.length() > name.length() && host.endsWith(name)
                                    : host.equals(name)));
        }
    }

    private final List<Entry> entries;

    private AddressRules(List<Entry> entries) {
        this.entries = List.copyOf(entries);
    }

    /**
     * @throws IllegalArgumentException naming the entry and what is wrong with it
     */
    public static AddressRules of(List<String> list) {
        List<Entry> entries = new ArrayList<>();
        for (String text : list) {
            try {
                entries.add(entry(text.strip()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(KEY + ": `" + text + "`: " + e.getMessage(), e);
            }
        }
        return new AddressRules(entries);
    }

    private static Entry entry(String text) {
        if (text.startsWith("unix:")) {
            String path = text.substring("unix:".length()).replaceFirst("^//(?=/)", "");
            if (!isPlain(path)) {
                throw new IllegalArgumentException("must have a path from / on, without `..`");
            }
            return new Entry(null, null, null, path, 0, 0);
        }
        Optional<byte[]> bareV6 = AddressRange.literal(text.replaceFirst("/\\d+$", ""));
        if (bareV6.isPresent()) {
            return new Entry(null, null, AddressRange.parse(text), null, 0, MAX_PORT);
        }
        Matcher m = ENTRY.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException("must look like [SCHEME://]HOST[:PORT[-PORT]]");
        }
        String scheme = m.group(1);
        if (scheme != null && !SCHEMES.contains(scheme)) {
            throw new IllegalArgumentException(
                    "its scheme must be one of http, https, h2, h2c, tcp");
        }
        int from = m.group(3) == null ? 0 : Integer.parseInt(m.group(3));
        int to = m.group(4) != null ? Integer.parseInt(m.group(4)) : from == 0 ? MAX_PORT : from;
        if (to < from || to > MAX_PORT || (m.group(3) != null && from == 0)) {
            throw new IllegalArgumentException("its ports must be from 1 to 65535, in order");
        }
        String host = Place.bare(m.group(2)).toLowerCase(Locale.ROOT);
        if (host.equals("*")) {
            return new Entry(scheme, host, null, null, from, to);
        }
        if (host.indexOf('/') >= 0 || AddressRange.literal(host).isPresent()) {
            return new Entry(scheme, null, AddressRange.parse(host), null, from, to);
        }
        String name = host.startsWith("*.") ? host.substring(2) : host;
        if (!isName(name)) {
            throw new IllegalArgumentException("`" + host + "` is neither a name nor an address");
        }
        return new Entry(scheme, host.startsWith("*.") ? "." + name : name, null, null, from, to);
    }

    /**
     * Why this place must not be connected to, as far as can be seen before its name is looked up.
     *
     * @param sameMachine who names it is on this machine, and could connect to its loopback and
     *     socket files as well without us
     * @return a sentence for whoever named it; empty: nothing speaks against it
     */
    public Optional<String> refusal(Place place, boolean sameMachine) {
        if (place.isFile()) {
            return file(place, sameMachine);
        }
        Optional<byte[]> literal = AddressRange.literal(place.host());
        if (literal.isPresent()) {
            return address(place, null, literal.get(), sameMachine);
        }
        String name = normal(place.host());
        if (!isName(name)) {
            return Optional.of(
                    "`"
                            + place.host()
                            + "` is neither the name of a host nor an address in its usual form,"
                            + " four decimal numbers or IPv6 without a zone");
        }
        if (isLocalhost(name)) {
            return address(place, name, new byte[] {127, 0, 0, 1}, sameMachine);
        }
        boolean maybe =
                entries.stream()
                        .anyMatch(e -> e.covers(place) && (e.named(name) || e.range != null));
        return maybe ? Optional.empty() : Optional.of(unlisted(place, name));
    }

    /**
     * Why the address that this place's name leads to must not be connected to.
     *
     * @return a sentence for the operator; empty: it may
     */
    public Optional<String> refusal(Place place, InetAddress resolved) {
        return address(place, normal(place.host()), resolved.getAddress(), false);
    }

    private Optional<String> file(Place place, boolean sameMachine) {
        String path = place.host();
        boolean listed =
                isPlain(path)
                        && entries.stream()
                                .map(Entry::path)
                                .anyMatch(
                                        p ->
                                                p != null
                                                        && (p.endsWith("/")
                                                                ? path.startsWith(p)
                                                                : path.equals(p)));
        return listed || (sameMachine && isPlain(path))
                ? Optional.empty()
                : Optional.of(
                        "the socket file %s is refused; unix:%s in %s would allow it"
                                .formatted(path, path, KEY));
    }

    private static boolean isPlain(String path) {
        return path.startsWith("/")
                && !path.contains("//")
                && !(path + "/").contains("/../")
                && !(path + "/").contains("/./");
    }

    /** {@code name}: that led to the address, null: none. */
    private Optional<String> address(
            Place place, @Nullable String name, byte[] address, boolean sameMachine) {
        for (byte[] part : AddressRange.withEmbedded(address)) {
            for (Special special : SPECIALS) {
                if (special.range.contains(part)
                        && !(sameMachine && special.what.equals(LOOPBACK))
                        && entries.stream().noneMatch(e -> lifts(e, place, special.range, part))) {
                    return Optional.of(
                            "the address %s%s is refused: %s (%s); %s in %s would allow it"
                                    .formatted(
                                            AddressRange.text(address),
                                            name == null ? "" : " of " + name,
                                            special.what,
                                            special.range,
                                            AddressRange.text(part),
                                            KEY));
                }
            }
        }
        boolean listed =
                entries.stream()
                        .anyMatch(
                                e ->
                                        e.covers(place)
                                                && (e.named(name == null ? "" : name)
                                                        || (e.range != null
                                                                && e.range.contains(address))));
        return listed ? Optional.empty() : Optional.of(unlisted(place, AddressRange.text(address)));
    }

    private static boolean lifts(Entry e, Place place, AddressRange special, byte[] address) {
        return e.range != null
                && e.covers(place)
                && special.contains(e.range)
                && e.range.contains(address);
    }

    private static String unlisted(Place place, String host) {
        return place
                + " is not allowed by "
                + KEY
                + "; "
                + (host.indexOf(':') < 0 ? host : "[" + host + "]")
                + ":"
                + place.port()
                + " there would allow it";
    }

    /** Lower case, without the dot of the root. */
    private static String normal(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    private static boolean isName(String name) {
        return name.length() <= MAX_NAME
                && NAME.matcher(name).matches()
                && !NUMBER.matcher(name).matches();
    }

    private static boolean isLocalhost(String name) {
        return name.equals("localhost")
                || name.endsWith(".localhost")
                || name.equals("localhost.localdomain")
                || name.equals("ip6-localhost")
                || name.equals("ip6-loopback");
    }

    /**
     * A connection to this host was judged for good when it was named: it is an address, or means
     * this machine and leads to it.
     */
    static boolean isSettled(String host, InetAddress resolved) {
        return AddressRange.literal(host).isPresent()
                || (resolved.isLoopbackAddress() && isLocalhost(normal(host)));
    }
}
