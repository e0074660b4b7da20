package io.warmpath.fleet;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Where an engine runs, as the labels of its worker say. Immutable.
 *
 * @param node machine; empty: not told, as with the others
 * @param rack whose machines share a switch
 * @param zone of a cloud or data centre
 */
public record Place(String node, String rack, String zone) {
    /** Nothing is told. */
    public static final Place UNKNOWN = new Place("", "", "");

    /** Names of the labels. */
    public static final List<String> LABELS = List.of("node", "rack", "zone");

    /** The narrowest that two engines share, as far as it is told. */
    public enum Shared {
        NODE,
        RACK,
        ZONE,
        FLEET;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public static Place of(Map<String, String> labels) {
        return labels.isEmpty()
                ? UNKNOWN
                : new Place(
                        labels.getOrDefault("node", ""),
                        labels.getOrDefault("rack", ""),
                        labels.getOrDefault("zone", ""));
    }

    /** Zones that differ share nothing, whatever their racks and nodes are called. */
    public Shared shared(Place other) {
        if (!zone.isEmpty() && !other.zone.isEmpty() && !zone.equals(other.zone)) {
            return Shared.FLEET;
        }
        if (!node.isEmpty() && node.equals(other.node)) {
            return Shared.NODE;
        }
        if (!rack.isEmpty() && rack.equals(other.rack)) {
            return Shared.RACK;
        }
        return zone.isEmpty() || other.zone.isEmpty() ? Shared.FLEET : Shared.ZONE;
    }
}
