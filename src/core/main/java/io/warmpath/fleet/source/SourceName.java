package io.warmpath.fleet.source;

import java.util.Locale;

/**
 * Who can name workers, the strongest first: where two describe the same worker, each field is
 * taken from the strongest one that says something about it.
 */
public enum SourceName {
    /** An operator, through {@code /workers}. */
    API,
    /** The configuration, whose file is read again when it changes. */
    CONFIG,
    KUBERNETES,
    /** Engines, or the relays beside them, that register themselves. */
    NATS;

    /** Its keys are another one for each life of a worker's process. */
    boolean tellsLives() {
        return this == KUBERNETES;
    }

    /** As it is shown. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
