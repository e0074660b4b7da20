package io.warmpath.fleet;

import java.util.Locale;

/** How an engine can keep the cache of a session that is opened and closed. */
public enum SessionSupport {
    /** Not at all, or it has not said: its sessions only stay on it. */
    STICKY,
    /** Requests carry a tag, and what was cached under it is let go of when the tag is closed. */
    RADIX,
    /** Opened, appended to and closed; what it holds is outside of eviction. */
    STREAMING;

    /** {@code sticky}, {@code radix} or {@code streaming}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
