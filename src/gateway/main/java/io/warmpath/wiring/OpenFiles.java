package io.warmpath.wiring;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * The files and sockets that the process may have open ({@code ulimit -n}), and how many clients
 * that is enough for: each takes one, and one more for its connection to an engine. Immutable.
 *
 * @param limit how many it may have open
 * @param open how many it has open, before it serves
 */
record OpenFiles(long limit, long open) {
    private static final Logger LOG = Logger.getLogger(OpenFiles.class);

    /** With fewer the process cannot even start, or has none for clients. */
    private static final long LEAST = 256;

    /** For what is opened later: jars, events and health checks of engines, files read again. */
    private static final long LEAST_SPARE = 32;

    /** The same, as a part of the limit. */
    private static final long SPARE_PART = 16;

    /** Fewer clients than this are worth a word. */
    private static final int FEW = 64;

    /** As it is now. */
    static OpenFiles now() {
        return ManagementFactory.getOperatingSystemMXBean()
                        instanceof UnixOperatingSystemMXBean system
                ? new OpenFiles(
                        system.getMaxFileDescriptorCount(), system.getOpenFileDescriptorCount())
                : new OpenFiles(Long.MAX_VALUE, 0);
    }

    /** Why the gateway cannot serve with so few, in a sentence. */
    Optional<String> tooFew() {
        return limit >= LEAST
                ? Optional.empty()
                : Optional.of(
                        ("this process may have %s files and sockets open (ulimit -n), and"
                                        + " needs %s to start and two more for each stream: raise"
                                        + " that limit, 65536 is a good one.")
                                .formatted(limit, LEAST));
    }

    /** How many connections clients may have. {@code wanted}: 0: as many as there is room for. */
    int clients(int wanted) {
        long spare = Math.max(LEAST_SPARE, limit / SPARE_PART);
        int room = (int) Math.clamp((limit - open - spare) / 2, 1L, Integer.MAX_VALUE);
        if (wanted > room) {
            LOG.warnf(
                    "warmpath.http.clients.max-connections is %d; this process may have %d files"
                            + " and sockets open (ulimit -n), which is enough for %d clients that"
                            + " all have a stream",
                    wanted, limit, room);
        } else if (wanted == 0 && room < FEW) {
            LOG.warnf(
                    "This process may have %d files and sockets open (ulimit -n): that is enough"
                            + " for %d clients",
                    limit, room);
        }
        return wanted > 0 ? wanted : room;
    }
}
