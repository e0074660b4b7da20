package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A range of versions of a record: where a fault came in, and where it was mended. Evaluated as the
 * schema of OSV says.
 */
final class VersionRange {
    private enum What {
        INTRODUCED,
        FIXED,
        LAST_AFFECTED
    }

    private record Event(What what, String version) {}

    /** Before the first version there is. */
    private static final String START = "0";

    private final Comparator<String> order;
    private final List<Event> events = new ArrayList<>();
    private final List<String> limits = new ArrayList<>();

    /**
     * @param name of the record, for messages
     * @throws AuditException when it is none, or of commits: those have no order of versions
     */
    VersionRange(String name, JsonNode range) throws AuditException {
        String type = range.path("type").asText();
        this.order =
                switch (type) {
                    case "ECOSYSTEM" -> VersionOrder.MAVEN;
                    case "SEMVER" -> VersionOrder.SEMVER;
                    default -> throw new AuditException(name + ": a range of type " + type);
                };
        for (JsonNode event : range.path("events")) {
            if (event.size() != 1) {
                throw new AuditException(name + ": an event that is not one thing: " + event);
            }
            String key = event.fieldNames().next();
            String version = JsonFile.text(name, event, key);
            switch (key) {
                case "introduced" -> events.add(new Event(What.INTRODUCED, version));
                case "fixed" -> events.add(new Event(What.FIXED, version));
                case "last_affected" -> events.add(new Event(What.LAST_AFFECTED, version));
                case "limit" -> limits.add(version);
                default -> throw new AuditException(name + ": an unknown event: " + key);
            }
        }
        if (events.stream().noneMatch(e -> e.what() == What.INTRODUCED)) {
            throw new AuditException(name + ": a range that begins nowhere");
        }
        events.sort((a, b) -> compare(a.version(), b.version()));
    }

    private int compare(String one, String other) {
        boolean first = one.equals(START);
        return first || other.equals(START)
                ? Boolean.compare(other.equals(START), first)
                : order.compare(one, other);
    }

    boolean contains(String version) {
        if (!limits.isEmpty()
                && limits.stream().noneMatch(l -> l.equals("*") || compare(version, l) < 0)) {
            return false;
        }
        boolean inside = false;
        for (Event event : events) {
            int at = compare(version, event.version());
            switch (event.what()) {
                case INTRODUCED -> inside |= at >= 0;
                case FIXED -> inside &= at < 0;
                case LAST_AFFECTED -> inside &= at <= 0;
            }
        }
        return inside;
    }

    /** The first version after this one that has the fault no more. */
    Optional<String> fixedAfter(String version) {
        return events.stream()
                .filter(e -> e.what() == What.FIXED && compare(e.version(), version) > 0)
                .map(Event::version)
                .findFirst();
    }
}
