package io.warmpath.adapter.nats;

import io.nats.client.api.ServerInfo;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which nats-server this was tested with. Of an older one a process speaks once, however many
 * connections it has. Any thread.
 */
final class TestedServers {
    /** The oldest; what {@code ./warmpath test} starts is at least as new. */
    static final String OLDEST = "2.15.2";

    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /** A sentence about a server that is older; empty when it is not, or was told before. */
    Optional<String> older(ServerInfo server) {
        String version = server.getVersion();
        if (version == null || !server.isOlderThanVersion(OLDEST) || !warned.add(version)) {
            return Optional.empty();
        }
        return Optional.of(
                ("the server is %s; %s is the oldest that this gateway was tested with."
                                + " Events and sessions need nothing newer that is known, but one"
                                + " damaged file on the disk of an older server can cost all shared"
                                + " snapshots in place of one: gateways then start with an empty"
                                + " index. Update it (src/docs/how-to/nats.md).")
                        .formatted(version, OLDEST));
    }
}
