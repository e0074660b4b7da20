package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A component with a known vulnerability.
 *
 * @param aliases its names elsewhere
 * @param severity as the record rates it: a word, CVSS vectors; empty: not rated
 * @param fixed the first version without it; empty: none is known
 * @param more where to read on; empty: nowhere
 */
public record Finding(
        Component component,
        String id,
        List<String> aliases,
        String summary,
        List<String> severity,
        String fixed,
        String more) {
    /** Longer details are cut. */
    private static final int SUMMARY = 200;

    static Finding of(Component component, JsonNode osv, JsonNode affected, String fixed) {
        List<String> severity = new ArrayList<>();
        String word = osv.path("database_specific").path("severity").asText();
        if (!word.isEmpty()) {
            severity.add(word);
        }
        for (JsonNode of : List.of(affected, osv)) {
            of.path("severity").forEach(rating -> severity.add(rating.path("score").asText()));
        }
        return new Finding(
                component,
                osv.path("id").asText(),
                texts(osv.path("aliases")).toList(),
                summary(osv),
                severity,
                fixed,
                more(osv));
    }

    private static Stream<String> texts(JsonNode array) {
        return array.valueStream().map(JsonNode::asText);
    }

    private static String summary(JsonNode osv) {
        String summary = osv.path("summary").asText();
        String text = summary.isBlank() ? osv.path("details").asText() : summary;
        String line = text.strip().lines().findFirst().orElse("(no summary)");
        return line.length() > SUMMARY ? line.substring(0, SUMMARY) + "..." : line;
    }

    private static String more(JsonNode osv) {
        String first = "";
        for (JsonNode reference : osv.path("references")) {
            String url = reference.path("url").asText();
            if (reference.path("type").asText().equals("ADVISORY")) {
                return url;
            }
            first = first.isEmpty() ? url : first;
        }
        return first;
    }

    /** What whoever reads this is to do. */
    public String next() {
        String otherwise =
                ", or give --ignore its id with a reason and a date after which it counts again";
        return fixed.isEmpty()
                ? "no fixed version is known: see whether it can be reached here"
                        + (more.isEmpty() ? "" : " (" + more + ")")
                        + otherwise
                : "raise " + component.name() + " to " + fixed + " or later" + otherwise;
    }
}
