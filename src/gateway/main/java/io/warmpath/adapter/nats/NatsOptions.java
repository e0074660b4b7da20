package io.warmpath.adapter.nats;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How to reach a NATS server. Immutable.
 *
 * @param servers URLs of one cluster: {@code nats://}, {@code tls://}, {@code ws://}, {@code
 *     wss://}
 * @param credentials file with a JWT and its seed; null: none
 * @param user null: none
 * @param password of the user
 * @param token null: none
 * @param authorities PEM file of who may sign the server's certificate; null: those that the JDK
 *     trusts
 * @param certificate PEM file of our own certificate, null: none
 * @param key PEM file of its key
 */
public record NatsOptions(
        List<String> servers,
        @Nullable Path credentials,
        @Nullable String user,
        @Nullable String password,
        @Nullable String token,
        @Nullable Path authorities,
        @Nullable Path certificate,
        @Nullable Path key) {

    /**
     * @throws IllegalArgumentException naming what cannot be
     */
    public NatsOptions {
        servers = List.copyOf(servers);
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("no NATS server is named");
        }
        for (String server : servers) {
            checkUrl(server);
        }
        if ((user == null) != (password == null)) {
            throw new IllegalArgumentException(
                    "a NATS user needs a password, and a password a user");
        }
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException(
                    "a certificate for NATS needs its key, and a key its certificate");
        }
    }

    /** Nothing but the address. */
    public static NatsOptions of(String... servers) {
        return new NatsOptions(List.of(servers), null, null, null, null, null, null, null);
    }

    /** Whether the connection is to be encrypted. */
    boolean encrypted() {
        return authorities != null
                || certificate != null
                || servers.stream().anyMatch(s -> s.startsWith("tls:") || s.startsWith("wss:"));
    }

    private static void checkUrl(String server) {
        try {
            URI url = URI.create(server.contains("://") ? server : "nats://" + server);
            switch (url.getScheme()) {
                case "nats", "tls", "ws", "wss" -> {}
                default -> throw new IllegalArgumentException("unknown scheme");
            }
            if (url.getHost() == null) {
                throw new IllegalArgumentException("no host");
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "NATS server "
                            + server
                            + " is not an address such as nats://host:4222 or tls://host:4222",
                    e);
        }
    }

    /** Without what is secret. */
    @Override
    public String toString() {
        return String.join(",", servers.stream().map(NatsOptions::hideUser).toList());
    }

    private static String hideUser(String server) {
        return server.replaceFirst("//[^/@]*@", "//***@");
    }
}
