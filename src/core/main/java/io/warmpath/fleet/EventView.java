package io.warmpath.fleet;

import java.util.List;
import java.util.Locale;

/**
 * Where the KV events of a rank, or of one source of them, stand. See src/docs/reference/events.md.
 */
public enum EventView {
    /** This gateway follows no events. */
    OFF,
    /** The rank has no source that could be subscribed: it is known by its load alone. */
    NONE,
    /** Not connected yet, or what the publisher said before is being read. */
    CONNECTING,
    /** All that the engine has said is in the index. */
    EXACT,
    /** More has come than has been applied. */
    LAGGING,
    /** Something is missing for good: too little is known, until the engine clears or restarts. */
    GAP,
    /** Something is missing, and asked for at this moment. */
    REPAIRING,
    /** What is known cannot be the cache: events do not come, or cannot be used. */
    FROZEN,
    /** The connection is lost, or the source was given up. */
    GONE;

    private static final List<EventView> OF_SOURCES =
            List.of(CONNECTING, EXACT, LAGGING, GAP, REPAIRING, FROZEN, GONE);

    /** Those that a source can be in; the others are of ranks without one. */
    public static List<EventView> ofSources() {
        return OF_SOURCES;
    }

    /** As explanations, metrics and {@code /events/sources} say it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
