package io.warmpath.reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The schemas of an OpenAPI description in words and links of Markdown. */
final class ApiSchemas {
    private static final Pattern DOCUMENT = Pattern.compile("src/docs/([\\w/-]+?)([\\w-]+)\\.md");
    private static final String SCHEMAS = "#/components/schemas/";

    private final JsonNode api;
    private final Map<String, RecordDocs.Doc> records;

    /** How many places name a schema; what several name gets a part of its own. */
    private final Map<String, Integer> named = new HashMap<>();

    private final Set<String> linked = new TreeSet<>();

    /**
     * @param name with those of the members around it
     * @param about may be empty
     */
    record Member(String name, boolean isRequired, String form, String about) {
        private Member asRequired() {
            return new Member(name, true, form, about);
        }
    }

    /**
     * @param records what is known of schemas that records are, by their names
     */
    ApiSchemas(JsonNode api, Map<String, RecordDocs.Doc> records) {
        this.api = api;
        this.records = records;
        api.path("paths").findValues("$ref").forEach(r -> count(r.asText()));
    }

    /** Names of the schemas with a part of their own that were linked to so far. */
    Set<String> linked() {
        return linked;
    }

    static JsonNode reference(String name) {
        return JsonNodeFactory.instance.objectNode().put("$ref", SCHEMAS + name);
    }

    /** What the schema is as a whole; may be empty. */
    String about(JsonNode schema) {
        String said = text(resolved(schema));
        return said.isEmpty() && schema.has("$ref") ? recorded(schema).about() : said;
    }

    private void count(String reference) {
        String name = reference.substring(reference.lastIndexOf('/') + 1);
        boolean schema = reference.startsWith(SCHEMAS);
        if (!schema || named.merge(name, 1, Integer::sum) == 1) {
            api.at(reference.substring(1)).findValues("$ref").forEach(r -> count(r.asText()));
        }
    }

    /** Whether a schema has a part of its own, to which places link. */
    boolean isApart(JsonNode schema) {
        return schema.has("$ref")
                && named.getOrDefault(name(schema), 0) > 1
                && !name(schema).equals("Any");
    }

    /** Members with those of members, as {@code a.b} and {@code list[].b}; in their order. */
    List<Member> members(JsonNode schema) {
        Map<String, Member> rows = new LinkedHashMap<>();
        members("", schema, rows);
        return List.copyOf(rows.values());
    }

    private void members(String at, JsonNode schema, Map<String, Member> rows) {
        JsonNode is = resolved(schema);
        for (JsonNode part : is.path("allOf")) {
            members(at, part, rows);
        }
        Set<String> required = new HashSet<>();
        is.path("required").forEach(r -> required.add(r.asText()));
        // A part may leave it to the whole to require its members.
        required.forEach(r -> rows.computeIfPresent(at + r, (n, m) -> m.asRequired()));
        for (var member : is.path("properties").properties()) {
            String name = at + member.getKey();
            JsonNode of = member.getValue();
            String told = text(of);
            if (told.isEmpty() && schema.has("$ref")) {
                told = recorded(schema).members().getOrDefault(member.getKey(), "");
            }
            if (told.isEmpty() && of.has("$ref") && !isApart(of)) {
                told = text(resolved(of));
            }
            rows.put(name, new Member(name, required.contains(member.getKey()), form(of), told));
            inner(name, of, rows);
        }
    }

    private void inner(String name, JsonNode of, Map<String, Member> rows) {
        if (of.path("type").asText().equals("array")) {
            inner(name + "[]", of.path("items"), rows);
        } else if (!isApart(of)
                && (of.has("properties") || of.has("allOf") || resolved(of).has("properties"))) {
            members(name + ".", of, rows);
        }
    }

    private RecordDocs.Doc recorded(JsonNode schema) {
        return records.getOrDefault(name(schema), new RecordDocs.Doc("", Map.of()));
    }

    /** Type, range and default, such as {@code integer, from 0}. */
    String form(JsonNode schema) {
        if (schema.has("$ref") && isApart(schema)) {
            linked.add(name(schema));
            return "[" + name(schema) + "](#" + anchor(name(schema)) + ")";
        }
        JsonNode is = resolved(schema);
        List<String> words = new ArrayList<>();
        if (is.has("const")) {
            return code(is.path("const"));
        }
        if (is.has("enum")) {
            is.path("enum").forEach(word -> words.add(code(word)));
            return String.join(", ", words) + standard(is);
        }
        JsonNode type = is.path("type");
        if (type.isArray()) {
            type.forEach(t -> words.add(t.asText()));
        } else {
            words.add(is.has("properties") || is.has("allOf") ? "object" : type.asText("any"));
        }
        if (type.asText().equals("array")) {
            return "list of " + form(is.path("items"));
        }
        if (is.path("additionalProperties").has("type")) {
            return "object, each member " + form(is.path("additionalProperties"));
        }
        return String.join(" or ", words) + range(is) + standard(is);
    }

    private static String range(JsonNode is) {
        String least = is.path("minimum").asText();
        String most = is.path("maximum").asText();
        if (is.has("maxLength")) {
            return ", at most " + is.path("maxLength") + " characters";
        }
        return least.isEmpty()
                ? most.isEmpty() ? "" : ", at most " + most
                : most.isEmpty() ? ", from " + least : ", " + least + " to " + most;
    }

    private static String standard(JsonNode is) {
        return is.has("default") ? ", default " + code(is.path("default")) : "";
    }

    JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? api.at(node.path("$ref").asText().substring(1)) : node;
    }

    private static String name(JsonNode schema) {
        String reference = schema.path("$ref").asText();
        return reference.substring(reference.lastIndexOf('/') + 1);
    }

    /** A description, with links where it names documents. */
    static String text(JsonNode node) {
        return DOCUMENT.matcher(node.path("description").asText().strip())
                .replaceAll(m -> "[" + m.group(2) + "](../" + m.group(1) + m.group(2) + ".md)")
                .replace("../reference/", "");
    }

    static String code(JsonNode word) {
        return "`" + word.asText() + "`";
    }

    /** As GitHub and the documentation site make it of a heading. */
    static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-');
    }
}
