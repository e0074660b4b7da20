package io.warmpath.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One part of the product.
 *
 * @param name as databases name it, {@code group:artifact}; as the list names it where no ecosystem
 *     is known
 * @param comparable whether it is a package of {@link #ECOSYSTEM}, so that records can be about it
 */
public record Component(String name, String version, boolean comparable)
        implements Comparable<Component> {
    /** The one whose order of versions is known here; in all of our lists there is no other. */
    static final String ECOSYSTEM = "Maven";

    private static final String PURL = "pkg:maven/";

    /**
     * All components of a list (CycloneDX, JSON), each once, by name.
     *
     * @throws AuditException when it is no such list, or an empty one
     */
    public static List<Component> read(Path file) throws AuditException {
        JsonNode bom = JsonFile.read(file);
        Set<Component> found = new TreeSet<>();
        if (bom.path("bomFormat").asText().equals("CycloneDX")) {
            add(bom, found);
        }
        if (found.isEmpty()) {
            throw new AuditException(file + ": no list of components (CycloneDX, JSON)");
        }
        return List.copyOf(found);
    }

    private static void add(JsonNode parent, Set<Component> to) {
        for (JsonNode component : parent.path("components")) {
            to.add(of(component));
            add(component, to);
        }
    }

    private static Component of(JsonNode component) {
        String purl = component.path("purl").asText();
        String name = nameOf(purl);
        if (!name.isEmpty() && purl.indexOf('@') > 0) {
            String version = purl.substring(purl.indexOf('@') + 1).split("[?#]", 2)[0];
            return new Component(name, decoded(version), true);
        }
        String group = component.path("group").asText();
        return new Component(
                (group.isEmpty() ? "" : group + ":") + component.path("name").asText(),
                component.path("version").asText(),
                false);
    }

    /** {@code group:artifact} of a package URL of Maven; empty for others. */
    static String nameOf(String purl) {
        if (!purl.startsWith(PURL)) {
            return "";
        }
        String[] path = purl.substring(PURL.length()).split("[@?#]", 2)[0].split("/", -1);
        return path.length == 2 ? decoded(path[0]) + ":" + decoded(path[1]) : "";
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Override
    public int compareTo(Component other) {
        int byName = name.compareTo(other.name);
        return byName != 0 ? byName : version.compareTo(other.version);
    }

    @Override
    public String toString() {
        return name + " " + version;
    }
}
