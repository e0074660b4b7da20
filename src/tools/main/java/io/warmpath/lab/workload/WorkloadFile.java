package io.warmpath.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * A recorded workload: JSON lines as Mooncake's traces have them, or CSV with a header, {@code .gz}
 * or not.
 *
 * <p>Members, columns: {@code timestamp} in milliseconds, {@code input_length}, {@code
 * output_length} in tokens, {@code hash_ids} (a list; in CSV separated by spaces), {@code session}
 * if there is one. Instead of ids and input length a {@code prompt} may be given, four characters
 * to a token. A hash need not know what is before its block: the same hash behind other blocks is
 * another one.
 */
public final class WorkloadFile {
    private static final int CHARACTERS_PER_TOKEN = 4;
    private static final JsonMapper JSON = new JsonMapper();

    private final WorkloadBuilder to;
    private final boolean closed;
    private final Map<Block, Integer> ids = new HashMap<>();
    private final Map<String, Before> sessions = new HashMap<>();
    private double first = Double.NaN;

    private record Block(int parent, String hash) {}

    /** The last request of a session. */
    private record Before(int request, double millis) {}

    private record Line(
            double millis, int prompt, int answer, List<String> hashes, String session) {}

    private WorkloadFile(int blockTokens, boolean closed) {
        this.to = new WorkloadBuilder(blockTokens);
        this.closed = closed;
    }

    /**
     * @param blockTokens tokens per hash
     * @param closed a request waits for the one before it in its session, and then as long as lies
     *     between the two
     * @throws IllegalArgumentException naming the line that cannot be understood
     */
    public static Workload read(Path file, int blockTokens, boolean closed) throws IOException {
        WorkloadFile reader = new WorkloadFile(blockTokens, closed);
        String name = file.getFileName().toString();
        boolean zipped = name.endsWith(".gz");
        boolean csv = (zipped ? name.substring(0, name.length() - 3) : name).endsWith(".csv");
        try (InputStream raw = Files.newInputStream(file);
                InputStream in = zipped ? new GZIPInputStream(raw) : raw) {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            String[] header = csv ? lines.readLine().split(",", -1) : new String[0];
            int number = csv ? 1 : 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (!line.isBlank()) {
                    try {
                        reader.add(csv ? reader.ofCsv(header, line) : reader.ofJson(line));
                    } catch (IOException | RuntimeException e) {
                        throw new IllegalArgumentException(
                                file + ", line " + number + ": " + e.getMessage(), e);
                    }
                }
            }
        }
        if (reader.to.size() == 0) {
            throw new IllegalArgumentException(file + " holds no request");
        }
        return reader.to.build();
    }

    private Line ofJson(String line) throws IOException {
        JsonNode node = JSON.readTree(line);
        List<String> hashes = new ArrayList<>();
        node.path("hash_ids").forEach(h -> hashes.add(h.asText()));
        return line(
                node.required("timestamp").asDouble(),
                node.path("prompt").asText(""),
                node.path("input_length").asInt(0),
                node.required("output_length").asInt(),
                hashes,
                node.path("session").asText(""));
    }

    private Line ofCsv(String[] header, String line) {
        String[] words = line.split(",", -1);
        Map<String, String> row = new HashMap<>();
        for (int i = 0; i < Math.min(header.length, words.length); i++) {
            row.put(header[i].strip(), words[i].strip());
        }
        String ids = row.getOrDefault("hash_ids", "");
        return line(
                number(row, "timestamp"),
                "",
                (int) number(row, "input_length"),
                (int) number(row, "output_length"),
                ids.isEmpty() ? List.of() : List.of(ids.split(" +")),
                row.getOrDefault("session", ""));
    }

    private static double number(Map<String, String> row, String column) {
        String value = row.get(column);
        if (value == null) {
            throw new IllegalArgumentException("there is no column " + column);
        }
        return Double.parseDouble(value);
    }

    private Line line(
            double millis,
            String text,
            int input,
            int answer,
            List<String> hashes,
            String session) {
        if (text.isEmpty()) {
            if (input < 1) {
                throw new IllegalArgumentException("neither input_length nor prompt");
            }
            return new Line(millis, input, answer, hashes, session);
        }
        int size = to.blockTokens() * CHARACTERS_PER_TOKEN;
        List<String> parts = new ArrayList<>();
        for (int at = 0; at + size <= text.length(); at += size) {
            parts.add(text.substring(at, at + size));
        }
        int tokens = Math.max(1, text.length() / CHARACTERS_PER_TOKEN);
        return new Line(millis, tokens, answer, parts, session);
    }

    private void add(Line line) {
        first = Double.isNaN(first) ? line.millis : first;
        int complete = Math.min(line.hashes.size(), line.prompt / to.blockTokens());
        int[] blocks = new int[complete];
        int parent = -1;
        for (int i = 0; i < complete; i++) {
            Block block = new Block(parent, line.hashes.get(i));
            parent = ids.computeIfAbsent(block, b -> to.newIds(1));
            blocks[i] = parent;
        }
        Before before = closed ? sessions.get(line.session) : null;
        int number =
                to.add(
                        to.size() + 1,
                        before == null ? line.millis - first : 0,
                        line.prompt,
                        Math.max(1, line.answer),
                        before == null ? 0 : (int) Math.max(0, line.millis - before.millis),
                        before == null ? new int[0] : new int[] {before.request},
                        blocks);
        if (!line.session.isEmpty()) {
            sessions.put(line.session, new Before(number, line.millis));
        }
    }
}
