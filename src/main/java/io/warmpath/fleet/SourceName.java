package io.warmpath.fleet;

import java.util.Locale;

/**
 * Who can name workers, the strongest first: where two describe the same worker, each field is
 * taken from the strongest one that says something about it.
 */
public enum SourceName {
    /** An operator, through {@code /workers}. */
    API,
    /** The configuration. */
    CONFIG,
    /** A file of workers that is read again when it changes. */
    FILE,
    KUBERNETES,
    /** Engines, or the relays beside them, that register themselves. */
    NATS;

    /** As it is shown. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
