package io.warmpath.wiring;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.warmpath.tokens.jinja.HuggingFaceChat;
import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The command {@code render}: chats and their templates to prompts, a JSON line each. */
public final class RenderMain {
    private static final int OK = 0;
    private static final int USAGE = 2;

    /** Compiled templates that are kept; more are compiled again. */
    private static final int MAX_TEMPLATES = 256;

    private static final Set<String> MEMBERS =
            Set.of(
                    "template",
                    "special_tokens",
                    "messages",
                    "tools",
                    "documents",
                    "add_generation_prompt",
                    "continue_final_message",
                    "chat_template_kwargs",
                    "now",
                    "mode");

    private static final String HELP =
            """
            Usage: ./warmpath render [FILE...]

            Renders chats with their templates. Reads JSON lines from the files, or from standard
            input, and writes one JSON line for each: {"text": ...}, or {"error": ...}.

            A line holds
              template                the Jinja source
              messages                as in a chat request
              tools, documents        lists; null or absent: none
              special_tokens          {"bos_token": "<s>", ...}
              add_generation_prompt   default false
              continue_final_message  default false
              chat_template_kwargs    {"enable_thinking": false, ...}
              now                     the time for strftime_now, 2026-01-31T12:00:00
              mode                    raw: the messages reach the template as they are

              --help                  this text

            Exit code: 0 every line was answered, 2 bad usage or file.
            """;

    private static final JsonMapper JSON =
            JsonMapper.builder(
                            JsonFactory.builder()
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNumberLength(5000)
                                                    .maxStringLength(100_000_000)
                                                    .build())
                                    .build())
                    .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                    .build();

    private static final TypeReference<LinkedHashMap<String, @Nullable Object>> LINE =
            new TypeReference<>() {};

    /** Template sources to templates, or to why there is none; the least used goes first. */
    private final Map<String, Object> templates =
            new LinkedHashMap<>(64, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Object> eldest) {
                    return size() > MAX_TEMPLATES;
                }
            };

    private RenderMain() {}

    public static void main(String[] args) {
        System.exit(run(args, System.in, System.out, System.err));
    }

    /** Runs the command; returns its exit code. */
    public static int run(String[] args, InputStream in, PrintStream out, PrintStream err) {
        for (String arg : args) {
            if (arg.equals("--help") || arg.equals("-h")) {
                out.print(HELP);
                return OK;
            }
            if (arg.startsWith("-")) {
                err.println("unknown option " + arg + "; see ./warmpath render --help");
                return USAGE;
            }
        }
        RenderMain render = new RenderMain();
        try {
            if (args.length == 0) {
                render.lines(in, out);
            }
            for (String file : args) {
                try (InputStream lines = Files.newInputStream(Path.of(file))) {
                    render.lines(lines, out);
                }
            }
            return OK;
        } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
            err.println("cannot be read: " + e.getMessage());
            return USAGE;
        }
    }

    private void lines(InputStream in, PrintStream out) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.isBlank()) {
                byte[] answer = JSON.writeValueAsBytes(answer(line));
                out.write(answer, 0, answer.length);
                out.write('\n');
                out.flush();
            }
        }
    }

    private Map<String, String> answer(String line) {
        try {
            return Map.of("text", render(JSON.readValue(line, LINE)));
        } catch (TemplateException e) {
            String message = e.getMessage();
            return Map.of("error", message == null ? "" : message, "kind", e.kind().toString());
        } catch (JsonProcessingException e) {
            return Map.of("error", "not valid JSON: " + e.getOriginalMessage());
        } catch (IllegalArgumentException | DateTimeException e) {
            String message = e.getMessage();
            return Map.of("error", message == null ? e.toString() : message);
        }
    }

    private String render(Map<String, @Nullable Object> line) {
        Set<String> unknown = new TreeSet<>(line.keySet());
        unknown.removeAll(MEMBERS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("unknown members: " + String.join(", ", unknown));
        }
        Object mode = line.getOrDefault("mode", "raw");
        if (!"raw".equals(mode)) {
            throw new IllegalArgumentException(
                    "mode "
                            + mode
                            + " is not known; raw is: it renders the messages as they are, so change"
                            + " them first as the engine would");
        }
        if (!(line.get("template") instanceof String source)) {
            throw new IllegalArgumentException("template must be the Jinja source");
        }
        List<?> messages = list(line, "messages");
        if (messages == null) {
            throw new IllegalArgumentException("messages must be a list");
        }
        HuggingFaceChat chat =
                new HuggingFaceChat(
                        messages,
                        list(line, "tools"),
                        list(line, "documents"),
                        flag(line, "add_generation_prompt"),
                        flag(line, "continue_final_message"),
                        object(line, "chat_template_kwargs"));
        Map<String, String> specials = new HashMap<>();
        object(line, "special_tokens").forEach((k, v) -> specials.put(k, String.valueOf(v)));
        return chat.render(template(source), specials, RenderLimits.DEFAULT, clock(line));
    }

    private Template template(String source) {
        Object known =
                templates.computeIfAbsent(
                        source,
                        s -> {
                            try {
                                return Template.compile(s);
                            } catch (TemplateException e) {
                                return e;
                            }
                        });
        if (known instanceof TemplateException e) {
            throw e;
        }
        return (Template) known;
    }

    private static Clock clock(Map<String, @Nullable Object> line) {
        Object now = line.get("now");
        return now == null
                ? Clock.system(ZoneId.systemDefault())
                : Clock.fixed(
                        LocalDateTime.parse(String.valueOf(now)).toInstant(ZoneOffset.UTC),
                        ZoneOffset.UTC);
    }

    private static @Nullable List<?> list(Map<String, @Nullable Object> line, String name) {
        Object value = line.get(name);
        if (value == null) {
            return null;
        }
        if (value instanceof List<?> list) {
            return new ArrayList<>(list);
        }
        throw new IllegalArgumentException(name + " must be a list");
    }

    private static boolean flag(Map<String, @Nullable Object> line, String name) {
        Object value = line.get(name);
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw new IllegalArgumentException(name + " must be true or false");
    }

    private static Map<String, @Nullable Object> object(
            Map<String, @Nullable Object> line, String name) {
        Object value = line.get(name);
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> map) {
            map.forEach((k, v) -> object.put(String.valueOf(k), v));
        } else if (value != null) {
            throw new IllegalArgumentException(name + " must be an object");
        }
        return object;
    }
}
