package io.warmpath.tools;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.TokenizerLoadException;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.JinjaChatTemplate;
import io.warmpath.tokens.text.UnencodableTextException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
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
                    ("template special_tokens messages tools documents add_generation_prompt"
                                    + " continue_final_message chat_template_kwargs tool_choice"
                                    + " reasoning_effort now mode")
                            .split(" ", -1));

    private static final String HELP =
            """
            Usage: ./warmpath render [--model DIR] [FILE...]

            Renders chats with their templates. Reads JSON lines from the files, or from standard
            input, and writes one JSON line for each: {"text": ...}, or {"error": ..., "kind": ...}.

            A line holds
              template                the Jinja source
              messages                as in a chat request
              tools, documents        lists; null or absent: none
              tool_choice             as in a chat request
              special_tokens          {"bos_token": "<s>", ...}
              add_generation_prompt   raw: default false; engines: their own default, which is true
              continue_final_message  default false
              chat_template_kwargs    {"enable_thinking": false, ...}
              reasoning_effort        as in a chat request
              now                     the time for strftime_now, 2026-01-31T12:00:00
              mode                    raw: the messages reach the template as they are (default)
                                      vllm: as vLLM 0.33 changes them first
                                      sglang: as SGLang 0.5.23 changes them first

              --model DIR             answers have "tokens" too, by the tokenizer.json in DIR. A line
                                      may leave out template and special_tokens: DIR's are taken
              --help                  this text

            "kind" of an error: SYNTAX and UNSUPPORTED (the template cannot be loaded), RAISED (its
            own words), FAILED, BUDGET; INVALID (the engine refuses the request with 400),
            UNPREDICTABLE (what the engine makes of it is not known).

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

    private final @Nullable LoadedModel model;

    private RenderMain(@Nullable LoadedModel model) {
        this.model = model;
    }

    public static void main(String[] args) {
        System.exit(run(args, System.in, System.out, System.err));
    }

    /** Runs the command; returns its exit code. */
    public static int run(String[] args, InputStream in, PrintStream out, PrintStream err) {
        List<String> files = new ArrayList<>();
        LoadedModel model = null;
        for (int i = 0; i < args.length; i++) {
            String arg = args[i];
            if (arg.equals("--help") || arg.equals("-h")) {
                out.print(HELP);
                return OK;
            }
            if (arg.equals("--model") && i + 1 < args.length && model == null) {
                try {
                    model = new HuggingFaceModelLoader().load(Path.of(args[++i]));
                } catch (TokenizerLoadException | InvalidPathException e) {
                    err.println(e.getMessage());
                    return USAGE;
                }
                model.warnings().forEach(err::println);
            } else if (arg.startsWith("-")) {
                err.println(
                        (arg.equals("--model")
                                        ? "--model takes one directory"
                                        : "unknown option " + arg)
                                + "; see ./warmpath render --help");
                return USAGE;
            } else {
                files.add(arg);
            }
        }
        RenderMain render = new RenderMain(model);
        try {
            if (files.isEmpty()) {
                render.lines(in, out);
            }
            for (String file : files) {
                try (InputStream lines = Files.newInputStream(Path.of(file))) {
                    render.lines(lines, out);
                }
            }
            return OK;
        } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
            err.println("cannot be read: " + e.getMessage());
            return USAGE;
        } finally {
            if (model != null) {
                model.tokenizer().close();
            }
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

    private Map<String, Object> answer(String line) {
        try {
            return answer(JSON.readValue(line, LINE));
        } catch (TemplateException e) {
            return error(String.valueOf(e.getMessage()), e.kind().toString());
        } catch (JsonProcessingException e) {
            return Map.of("error", "not valid JSON: " + e.getOriginalMessage());
        } catch (IllegalArgumentException | DateTimeException | UnencodableTextException e) {
            String message = e.getMessage();
            return Map.of("error", message == null ? e.toString() : message);
        }
    }

    private static Map<String, Object> error(String message, String kind) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("error", message);
        error.put("kind", kind);
        return error;
    }

    private Map<String, Object> answer(Map<String, @Nullable Object> line) {
        Set<String> unknown = new TreeSet<>(line.keySet());
        unknown.removeAll(MEMBERS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("unknown members: " + String.join(", ", unknown));
        }
        EngineProfile mode = mode(line.getOrDefault("mode", "raw"));
        JinjaChatTemplate template = template(line);
        return switch (template.prompt(chat(line), mode)) {
            case EnginePrompt.Text text -> {
                Map<String, Object> answer = new LinkedHashMap<>();
                answer.put("text", text.whole());
                if (model != null) {
                    answer.put("tokens", model.promptIds(text));
                }
                yield answer;
            }
            case EnginePrompt.Invalid invalid -> error(invalid.message(), "INVALID");
            case EnginePrompt.Unpredictable other -> error(other.why(), "UNPREDICTABLE");
        };
    }

    private static EngineProfile mode(@Nullable Object mode) {
        return switch (String.valueOf(mode)) {
            case "raw" -> EngineProfile.NONE;
            case "vllm" -> EngineProfile.VLLM;
            case "sglang" -> EngineProfile.SGLANG;
            default ->
                    throw new IllegalArgumentException(
                            "mode " + mode + " is not known; raw, vllm and sglang are");
        };
    }

    private static ChatRequest chat(Map<String, @Nullable Object> line) {
        List<?> messages = list(line, "messages");
        if (messages == null) {
            throw new IllegalArgumentException("messages must be a list");
        }
        Object effort = line.get("reasoning_effort");
        if (effort != null && !(effort instanceof String)) {
            throw new IllegalArgumentException("reasoning_effort must be a string");
        }
        return new ChatRequest(
                messages,
                list(line, "tools"),
                line.get("tool_choice"),
                list(line, "documents"),
                flag(line, "add_generation_prompt"),
                Boolean.TRUE.equals(flag(line, "continue_final_message")),
                object(line, "chat_template_kwargs"),
                (String) effort);
    }

    private JinjaChatTemplate template(Map<String, @Nullable Object> line) {
        Object source = line.get("template");
        if (source == null && model != null) {
            if (line.containsKey("special_tokens")) {
                throw new IllegalArgumentException(
                        "special_tokens without template: the model's template has its own");
            }
            if (model.template().orElse(null) instanceof JinjaChatTemplate own) {
                return own.at(clock(line));
            }
            throw new IllegalArgumentException(
                    "the model's directory has no chat template that can be used; give template");
        }
        if (!(source instanceof String jinja)) {
            throw new IllegalArgumentException("template must be the Jinja source");
        }
        Map<String, String> specials =
                new HashMap<>(model == null ? Map.of() : model.specialTokens());
        object(line, "special_tokens").forEach((k, v) -> specials.put(k, String.valueOf(v)));
        return new JinjaChatTemplate(
                template(jinja), null, specials, ModelFacts.UNKNOWN, clock(line), null);
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

    private static @Nullable Boolean flag(Map<String, @Nullable Object> line, String name) {
        Object value = line.get(name);
        if (value == null) {
            return null;
        }
        if (value instanceof Boolean flag) {
            return flag;
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
