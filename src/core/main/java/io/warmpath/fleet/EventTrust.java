package io.warmpath.fleet;

/**
 * How far a rank's KV events can be relied on. Immutable.
 *
 * @param credit part of the blocks it is known to hold that counts, 0 to 1
 */
public record EventTrust(EventView view, double credit) {
    public static final EventTrust OFF = believed(EventView.OFF);
    public static final EventTrust NONE = believed(EventView.NONE);

    /** Whatever is known counts in full. */
    public static EventTrust believed(EventView view) {
        return new EventTrust(view, 1);
    }
}
