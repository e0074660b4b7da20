package io.warmpath.reference;

import static io.warmpath.reference.ApiSchemas.anchor;
import static io.warmpath.reference.ApiSchemas.code;
import static io.warmpath.reference.ApiSchemas.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Text of {@code src/docs/reference/http-api.md}, made from the description that {@code /q/openapi}
 * serves.
 */
final class HttpApiPage {
    /** How the groups are called for readers, in the order of the page. */
    private static final Map<String, String> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put("Chat", "OpenAI's API");
        GROUPS.put("Messages", "Anthropic's API");
        GROUPS.put("Models", "Models");
        GROUPS.put("Pass-through", "Embeddings, reranking, audio, images");
        GROUPS.put("Tokens", "Tokens");
        GROUPS.put("Direct", "Direct API");
        GROUPS.put("Status", "Probes, metrics, console");
        GROUPS.put("Admin", "Operators' API");
    }

    private final JsonNode api;
    private final ApiSchemas schemas;
    private final StringBuilder out = new StringBuilder();

    /**
     * @param method in capitals
     */
    private record Operation(String method, String path, JsonNode is) {
        String title() {
            return method + " " + path;
        }

        String link() {
            return "[`" + title() + "`](#" + anchor(title()) + ")";
        }

        /** What it takes and gives, without its names. */
        String shape() {
            return is.path("requestBody").toString() + is.path("responses");
        }
    }

    private HttpApiPage(JsonNode api, ApiSchemas schemas) {
        this.api = api;
        this.schemas = schemas;
    }

    static String markdown(JsonNode api, Map<String, RecordDocs.Doc> records) {
        HttpApiPage page = new HttpApiPage(api, new ApiSchemas(api, records));
        page.write();
        return page.out.toString().replaceAll("\n{3,}", "\n\n").strip() + "\n";
    }

    private void write() {
        Map<String, List<Operation>> groups = groups();
        line(
                """
                # HTTP API

                Made by `HttpApiDocsTest` from the description that the gateway serves at `/q/openapi` (OpenAPI 3.1); do not edit.

                A request's body reaches the engine as the client wrote it. The members below are those that the gateway reads; it passes all others on.
                Clients show a key as `Authorization: Bearer KEY` or `x-api-key: KEY` where keys are configured, and operators a token of their own
                ([security](../how-to/security.md)). An error has one of the [error codes](errors.md). Envoy asks over gRPC, at a port of its own
                ([endpoint picker](../how-to/endpoint-picker.md)).

                | group | who may | what it is |
                |---|---|---|\
                """);
        groups.forEach(
                (tag, operations) ->
                        row(
                                "[" + GROUPS.get(tag) + "](#" + anchor(GROUPS.get(tag)) + ")",
                                who(operations.getFirst()),
                                about(tag)));
        line("\n" + HttpApiExamples.FIRST);
        headers();
        groups.forEach(this::group);
        types();
    }

    private Map<String, List<Operation>> groups() {
        Map<String, List<Operation>> all = new LinkedHashMap<>();
        GROUPS.keySet().forEach(tag -> all.put(tag, new ArrayList<>()));
        for (var path : api.path("paths").properties()) {
            for (var entry : path.getValue().properties()) {
                if (entry.getValue().has("responses")) {
                    String method = entry.getKey().toUpperCase(Locale.ROOT);
                    ObjectNode operation = entry.getValue().deepCopy();
                    path.getValue()
                            .path("parameters")
                            .forEach(p -> operation.withArray("parameters").add(p));
                    all.get(operation.path("tags").path(0).asText())
                            .add(new Operation(method, path.getKey(), operation));
                }
            }
        }
        return all;
    }

    private String about(String tag) {
        for (JsonNode one : api.path("tags")) {
            if (one.path("name").asText().equals(tag)) {
                return text(one);
            }
        }
        throw new IllegalStateException("a tag without a description: " + tag);
    }

    private static String who(Operation operation) {
        JsonNode security = operation.is().path("security");
        return security.isEmpty()
                ? "everybody"
                : security.path(0).has("adminToken") ? "operators" : "clients";
    }

    /** What many operations share: the headers that routing reads, and those that explain. */
    private void headers() {
        line("\n## Headers of requests\n");
        line(
                "Operations that are routed to a worker read these. A header wins over the member"
                        + " of `nvext` that says the same.\n");
        line("| header | form | what it says |\n|---|---|---|");
        for (JsonNode parameter : api.at("/components/parameters")) {
            if (parameter.path("in").asText().equals("header")) {
                row(
                        code(parameter.path("name")),
                        schemas.form(parameter.path("schema")),
                        text(parameter));
            }
        }
        line("\n## Headers of answers\n");
        line(
                "`x-ratelimit-*` come with a key that has limits, `x-warmpath-*` with"
                        + " `x-warmpath-explain: 1` ([the terms](../explanation/routing.md)).\n");
        line("| header | form | what it says |\n|---|---|---|");
        row("`retry-after`", "integer", "Of errors: seconds after which a new try may succeed");
        for (var header : api.at("/components/responses/Generated/headers").properties()) {
            row(
                    "`" + header.getKey() + "`",
                    schemas.form(header.getValue().path("schema")),
                    text(header.getValue()));
        }
    }

    private void group(String tag, List<Operation> operations) {
        line("\n## " + GROUPS.get(tag) + "\n");
        line(sentence(about(tag)) + HttpApiExamples.MORE.getOrDefault(tag, "") + "\n");
        Map<String, List<Operation>> shapes = new LinkedHashMap<>();
        operations.forEach(o -> shapes.computeIfAbsent(o.shape(), s -> new ArrayList<>()).add(o));
        if (shapes.size() * 4 < operations.size()) {
            shapes.values().forEach(this::alike);
        } else {
            list(operations.stream().map(o -> List.of(o.link(), summary(o))).toList());
            operations.forEach(this::operation);
        }
    }

    /** Operations that differ in name alone. */
    private void alike(List<Operation> same) {
        list(
                same.stream()
                        .map(o -> List.of(place(o) + "`" + o.title() + "`", summary(o)))
                        .toList());
        line("");
        parts(same.getFirst());
    }

    private void list(List<List<String>> operations) {
        line("| operation | what it does |\n|---|---|");
        operations.forEach(o -> row(o.toArray(String[]::new)));
    }

    private static String place(Operation o) {
        return "<a id=\"" + anchor(o.title()) + "\"></a>";
    }

    private static String summary(Operation o) {
        return o.is().path("summary").asText();
    }

    private void operation(Operation o) {
        line("\n### `" + o.title() + "`\n");
        line(sentence(summary(o)) + sentence(o.is().path("description")));
        line("");
        parts(o);
        String example = HttpApiExamples.OF.get(o.title());
        if (example != null) {
            line(example);
        }
    }

    private void parts(Operation o) {
        List<JsonNode> own = new ArrayList<>();
        boolean routed = false;
        for (JsonNode parameter : o.is().path("parameters")) {
            JsonNode is = schemas.resolved(parameter);
            if (is.path("in").asText().equals("header")) {
                routed = true;
            } else {
                own.add(is);
            }
        }
        if (!own.isEmpty()) {
            line("| parameter | in | form | what it says |\n|---|---|---|---|");
            for (JsonNode is : own) {
                row(
                        code(is.path("name")),
                        is.path("in").asText(),
                        schemas.form(is.path("schema")),
                        text(is));
            }
            line("");
        }
        JsonNode body = schemas.resolved(o.is().path("requestBody"));
        if (body.has("content")) {
            body(
                    "Body",
                    body,
                    routed ? ", with the [headers of requests](#headers-of-requests)" : "");
        }
        for (var answer : o.is().path("responses").properties()) {
            if (!answer.getKey().equals("default")) {
                JsonNode is = schemas.resolved(answer.getValue());
                String told = text(is);
                boolean plain = told.isEmpty() || told.equals("OK") || told.equals("The answer");
                body("Answer " + answer.getKey(), is, plain ? "" : ": " + told);
            }
        }
    }

    private void body(String what, JsonNode is, String told) {
        List<String> types = new ArrayList<>();
        JsonNode schema = null;
        for (var content : is.path("content").properties()) {
            types.add("`" + content.getKey().replace("*/*", "application/json") + "`");
            schema = schema == null ? content.getValue().path("schema") : schema;
        }
        String head =
                "**" + what + "**" + (types.isEmpty() ? "" : ", " + String.join(" or ", types));
        boolean apart = schema != null && schemas.isApart(schema);
        line(head + (apart ? ", " + schemas.form(schema) : "") + told + ".\n");
        if (schema != null && !apart) {
            table(schema);
        }
    }

    private void table(JsonNode schema) {
        String about = schemas.about(schema);
        if (!about.isEmpty()) {
            line(sentence(about) + "\n");
        }
        List<ApiSchemas.Member> members = schemas.members(schema);
        if (!members.isEmpty()) {
            line("| member | form | what it says |\n|---|---|---|");
            members.forEach(
                    m ->
                            row(
                                    "`" + m.name() + "`" + (m.isRequired() ? " (required)" : ""),
                                    m.form(),
                                    m.about()));
            line("");
        }
    }

    private void types() {
        line("\n## Types\n");
        line("What several operations take or give.");
        Map<String, String> texts = new TreeMap<>();
        int begin = out.length();
        while (!texts.keySet().containsAll(schemas.linked())) {
            for (String name : List.copyOf(schemas.linked())) {
                texts.computeIfAbsent(name, this::type);
                out.setLength(begin);
            }
        }
        texts.values().forEach(out::append);
    }

    private String type(String name) {
        int begin = out.length();
        line("\n### " + name + "\n");
        JsonNode schema = ApiSchemas.reference(name);
        if (schemas.members(schema).isEmpty()) {
            String form = schemas.form(schemas.resolved(schema));
            line(sentence(Character.toUpperCase(form.charAt(0)) + form.substring(1)) + "\n");
        }
        table(schema);
        return out.substring(begin);
    }

    private static String sentence(JsonNode node) {
        ObjectNode described = JsonNodeFactory.instance.objectNode();
        described.set("description", node);
        String text = text(described);
        return text.isEmpty() ? "" : " " + sentence(text);
    }

    private static String sentence(String text) {
        return text.matches("(?s).*[.:]") ? text : text + ".";
    }

    private static String cell(String text) {
        return text.replace("|", "\\|").replaceAll("\\s+", " ");
    }

    private void row(String... cells) {
        out.append("|");
        for (String text : cells) {
            out.append(' ').append(cell(text)).append(" |");
        }
        out.append('\n');
    }

    private void line(String text) {
        out.append(text).append('\n');
    }
}
