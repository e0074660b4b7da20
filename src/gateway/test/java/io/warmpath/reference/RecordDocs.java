package io.warmpath.reference;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Doc comments of records, read from their sources, as Markdown. */
final class RecordDocs {
    private static final Pattern RECORD =
            Pattern.compile(
                    "/\\*\\*((?:[^*]++|\\*(?!/))*+)\\*/\\s*((?:@[^\\n"
                            + "]*\\n"
                            + "\\s*)*)(?:(?:public|private|static|final) )*record (\\w+)");

    private static final Pattern NAMED = Pattern.compile("@Schema\\(name = \"(\\w+)\"");
    private static final Pattern CODE = Pattern.compile("\\{@(?:code|link) ([^}]*)}");

    /**
     * @param about the first part, on one line; may be empty
     * @param members by their names in JSON
     */
    record Doc(String about, Map<String, String> members) {}

    private RecordDocs() {}

    /** By the name of the schema, or of the record. */
    static Map<String, Doc> in(Path folder) throws IOException {
        Map<String, Doc> all = new HashMap<>();
        List<Path> files;
        try (Stream<Path> found = Files.walk(folder)) {
            files = found.filter(f -> f.toString().endsWith(".java")).toList();
        }
        for (Path file : files) {
            RECORD.matcher(Files.readString(file))
                    .results()
                    .forEach(m -> all.put(name(m), doc(m.group(1))));
        }
        return all;
    }

    private static String name(MatchResult record) {
        return NAMED.matcher(record.group(2))
                .results()
                .map(m -> m.group(1))
                .findFirst()
                .orElse(record.group(3));
    }

    private static Doc doc(String comment) {
        String[] parts = plain(comment).split("\n@", -1);
        Map<String, String> members = new HashMap<>();
        for (int i = 1; i < parts.length; i++) {
            String[] words = parts[i].split("\\s+", 3);
            if (words[0].equals("param") && words.length == 3) {
                members.put(snake(words[1]), line(words[2]));
            }
        }
        return new Doc(line(parts[0]), members);
    }

    private static String plain(String comment) {
        String text = comment.replaceAll("(?m)^[ \\t]*\\* ?", "").replace("<p>", "");
        return "\n"
                + CODE.matcher(text.replaceAll("\\s*\\n(?!@|\\s*\\n)\\s*", " ").strip())
                        .replaceAll("`$1`");
    }

    private static String line(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }

    private static String snake(String name) {
        return name.replaceAll("(?<=[a-z0-9])([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }
}
