package io.warmpath.state;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** The stream of events that several gateways follow. Any thread but an event loop; calls wait. */
public interface SharedStream {
    /**
     * @param retention after which messages go; zero: never
     * @param applied stream sequence up to which each gateway has applied all, by its id
     */
    record Look(SnapshotRules.Stream stream, Duration retention, Map<String, Long> applied) {
        public Look {
            applied = Map.copyOf(applied);
        }
    }

    /** Empty while nobody has made it. */
    Optional<Look> look() throws IOException;

    /** Drops all up to this sequence; it may have been done before. */
    void purge(long upTo) throws IOException;

    /** Forgets that this gateway followed; it may have been done before. */
    void forget(String gateway) throws IOException;
}
