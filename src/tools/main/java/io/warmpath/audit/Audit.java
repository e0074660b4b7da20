package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Compares components with records, one record after the other. */
public final class Audit {
    private final Map<String, List<Component>> byName = new HashMap<>();
    private final List<Component> left = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();
    private final List<String> undecided = new ArrayList<>();
    private int compared;
    private long records;
    private long withdrawn;

    /** Throws {@link AuditException} when no component can be compared. */
    public Audit(List<Component> components) throws AuditException {
        for (Component component : new TreeSet<>(components)) {
            if (component.comparable()) {
                byName.computeIfAbsent(component.name(), name -> new ArrayList<>()).add(component);
                compared++;
            } else {
                left.add(component);
            }
        }
        if (compared == 0) {
            throw new AuditException("no component is a package of " + Component.ECOSYSTEM);
        }
    }

    /** Throws {@link AuditException} when the record cannot be understood. */
    public void take(JsonNode osv) throws AuditException {
        if (osv.hasNonNull("withdrawn")) {
            withdrawn++;
            return;
        }
        boolean relevant = false;
        for (JsonNode affected : osv.path("affected")) {
            String name = packageOf(affected.path("package"));
            relevant |= !name.isEmpty();
            for (Component component : byName.getOrDefault(name, List.of())) {
                compare(component, osv, affected);
            }
        }
        records += relevant ? 1 : 0;
    }

    /** The package's name in our ecosystem; empty for others, and for none. */
    private static String packageOf(JsonNode pkg) {
        String ecosystem = pkg.path("ecosystem").asText();
        if (ecosystem.isEmpty()) {
            return Component.nameOf(pkg.path("purl").asText());
        }
        // A suffix names a repository other than the central one.
        return ecosystem.split(":", 2)[0].equals(Component.ECOSYSTEM)
                ? pkg.path("name").asText()
                : "";
    }

    private void compare(Component component, JsonNode osv, JsonNode affected)
            throws AuditException {
        String id = osv.path("id").asText();
        String version = component.version();
        boolean says = !affected.path("versions").isEmpty();
        boolean hit =
                affected.path("versions")
                        .valueStream()
                        .anyMatch(v -> VersionOrder.MAVEN.compare(v.asText(), version) == 0);
        boolean commits = false;
        Optional<String> fixed = Optional.empty();
        for (JsonNode one : affected.path("ranges")) {
            if (one.path("type").asText().equals("GIT")) {
                commits = true;
                continue;
            }
            says = true;
            VersionRange range = new VersionRange(id, one);
            boolean inside = range.contains(version);
            hit |= inside;
            if (inside && fixed.isEmpty()) {
                fixed = range.fixedAfter(version);
            }
        }
        if (!says && commits) {
            undecided.add(id + " of " + component + ": says commits and no versions");
        } else if (hit || !says) { // without versions it is about all of them
            Finding found = Finding.of(component, osv, affected, fixed.orElse(""));
            if (findings.stream()
                    .noneMatch(f -> f.id().equals(id) && f.component().equals(component))) {
                findings.add(found);
            }
        }
    }

    /** What was found. Throws {@link AuditException} when there was nothing to compare with. */
    public AuditResult result(Ignored ignored) throws AuditException {
        if (records == 0) {
            throw new AuditException(
                    "the database has no record of the ecosystem " + Component.ECOSYSTEM);
        }
        List<Finding> counted = new ArrayList<>();
        List<Finding> passed = new ArrayList<>();
        for (Finding finding : findings) {
            (ignored.covers(finding) ? passed : counted).add(finding);
        }
        return new AuditResult(
                compared,
                records,
                withdrawn,
                counted,
                passed,
                undecided,
                left,
                ignored.remarks(findings));
    }
}
