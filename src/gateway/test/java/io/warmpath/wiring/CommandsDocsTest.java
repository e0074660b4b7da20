package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingTable;
import io.warmpath.config.source.ConfigReference;
import io.warmpath.config.source.ServeHelp;
import io.warmpath.repository.RecordedText;
import io.warmpath.tools.ToolsMain;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code src/docs/reference/commands.md} has what the commands say of themselves. */
class CommandsDocsTest {
    /** Of {@code ./warmpath help}: a heading, or a command and what it does. */
    private static final Pattern LISTED =
            Pattern.compile("(?m)^(?:([A-Z][a-z ]+)|  ([a-z0-9-]+) +(.+))$");

    private static final Pattern ENVIRONMENT = Pattern.compile("(?s)# Environment: (.*?)\nset ");
    private static final Pattern VARIABLE =
            Pattern.compile("([A-Z][A-Z_]+(?:=off)?) \\(([^)]*)\\)");
    private static final Set<String> GATEWAYS = Set.of("relay", "key");
    private static final Set<String> TOOLS =
            Set.of("demo", "sim", "capture", "render", "lab", "audit");
    private static final Set<String> QUESTIONS =
            Set.of("status", "top", "why", "drain", "resume", "ask");

    @Test
    void the_page_is_current() throws Exception {
        String page = markdown();
        RecordedText.same(Path.of("src/docs/reference/commands.md"), page);
        List<MatchResult> listed = listed();
        assertTrue(listed.size() > 30, () -> "only " + listed.size());
    }

    private static List<MatchResult> listed() throws Exception {
        return LISTED.matcher(launcher("help")).results().toList();
    }

    private static String markdown() throws Exception {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                # Commands

                Made from the help texts by `CommandsDocsTest`; do not edit.

                One launcher starts everything: `./warmpath COMMAND` in a checkout, `warmpath COMMAND` where Warmpath is [installed](../how-to/install.md), with
                the commands that run programs and those that ask a gateway. A command builds first what it needs. Messages of the launcher go to
                standard error. Where a text names no other exit codes, 0 is success, 2 wrong use, and 1 anything else.

                | command | does |
                |---|---|
                """);
        List<MatchResult> listed = listed();
        for (MatchResult one : listed) {
            if (one.group(1) != null) {
                out.append("| **[%s](#%s)** | |\n".formatted(one.group(1), anchor(one.group(1))));
            } else {
                String name = "`" + one.group(2) + "`";
                out.append(
                        "| %s | %s |\n"
                                .formatted(
                                        isExplained(one)
                                                ? "[" + name + "](#" + one.group(2) + ")"
                                                : name,
                                        one.group(3)));
            }
        }
        out.append("\n## Environment\n\n| variable | what it is |\n|---|---|\n");
        MatchResult said =
                ENVIRONMENT
                        .matcher(Files.readString(Path.of("warmpath")))
                        .results()
                        .findFirst()
                        .orElseThrow();
        VARIABLE.matcher(said.group(1).replaceAll("\\s*\n# ?", " "))
                .results()
                .forEach(v -> out.append("| `%s` | %s |\n".formatted(v.group(1), v.group(2))));
        for (MatchResult one : listed) {
            if (one.group(1) != null) {
                out.append("\n## ").append(one.group(1)).append('\n');
            } else if (isExplained(one)) {
                out.append("\n### ").append(one.group(2)).append("\n\n");
                command(out, one.group(2));
            }
        }
        return out.toString();
    }

    private static void command(StringBuilder out, String name) throws Exception {
        if (!QUESTIONS.contains(name)) {
            out.append(fenced(launcher("help", name)));
        }
        if (name.equals("serve")) {
            SettingCatalog catalog = new SettingCatalog(SettingTable.read());
            out.append("\n`./warmpath serve --help`:\n\n")
                    .append(fenced(ServeHelp.text(catalog, "", 100)));
            out.append("\n#### Flags by group\n\n").append(ConfigReference.flags(catalog));
        } else if (GATEWAYS.contains(name) || TOOLS.contains(name) || QUESTIONS.contains(name)) {
            String text = program(name);
            assertTrue(text.contains("--help") || text.contains("usage"), () -> name + ": " + text);
            out.append(QUESTIONS.contains(name) ? "" : "\n`./warmpath " + name + " --help`:\n\n")
                    .append(fenced(text));
        }
    }

    private static boolean isExplained(MatchResult command) {
        return !command.group(2).equals("help") && !command.group(2).startsWith("-");
    }

    private static String fenced(String text) {
        return "```\n" + text.strip() + "\n```\n";
    }

    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).replace(' ', '-');
    }

    /** What the launcher prints, which runs no program for it. */
    private static String launcher(String... arguments) throws Exception {
        ProcessBuilder shell = new ProcessBuilder("sh", "./warmpath");
        shell.command().addAll(List.of(arguments));
        Process ran = shell.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String text = new String(ran.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, ran.waitFor(), text);
        return text;
    }

    private static String program(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        String[] arguments = {name, "--help"};
        int code =
                GATEWAYS.contains(name)
                        ? Main.run(arguments, out, out)
                        : ToolsMain.run(arguments, InputStream.nullInputStream(), out, out);
        assertEquals(0, code, name);
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
