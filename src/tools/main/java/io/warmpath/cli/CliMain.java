package io.warmpath.cli;

import java.util.List;
import java.util.Optional;

/** Entry of the commands that ask a running gateway. */
public final class CliMain {
    /** All of them, in the order of help texts. */
    public static final List<String> COMMANDS =
            List.of("status", "top", "why", "drain", "resume", "ask");

    private static final String URL_VARIABLE = "WARMPATH_URL";
    private static final String DEFAULT_URL = "http://localhost:8000";

    private static final String COMMON_HELP =
            """

              --url URL          the gateway; default: WARMPATH_URL, else http://localhost:8000
              --token-file FILE  holds the gateway's admin token; default: WARMPATH_ADMIN_TOKEN_FILE,
                                 else the token itself in WARMPATH_ADMIN_TOKEN. Without a token only
                                 the gateway's own user and root may ask, on its machine
              --json             the gateway's answer, JSON on one line, in place of text
              --help             this text
            """;

    private CliMain() {}

    /** Runs one of {@link #COMMANDS} to its end. Returns the exit code. */
    public static int run(String name, String[] args, Surroundings around) {
        Command command = command(name);
        try {
            Arguments arguments = Arguments.parse(args, command.switches(), command.valued());
            if (arguments.has(Arguments.HELP)) {
                around.out().print(command.help() + COMMON_HELP);
                return 0;
            }
            int words = arguments.words().size();
            if (words < command.fewestWords() || words > command.mostWords()) {
                throw Trouble.usage(
                        (words < command.fewestWords() ? "something is missing" : "too many words")
                                + "; see ./warmpath "
                                + name
                                + " --help");
            }
            Optional<AdminToken> token = AdminToken.find(arguments, around);
            return command.run(
                    new Call(arguments, new Gateway(url(arguments, around), token), around));
        } catch (Trouble e) {
            around.err().println("warmpath " + name + ": " + e.getMessage());
            return name.equals("status") ? Verdict.Level.DOWN.exitCode() : e.exitCode();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Trouble.FAILED;
        }
    }

    private static Command command(String name) {
        return switch (name) {
            case "status" -> new StatusCommand();
            case "top" -> new TopCommand();
            case "why" -> new WhyCommand();
            case "drain" -> new DrainCommand();
            case "resume" -> new ResumeCommand();
            case "ask" -> new AskCommand();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static String url(Arguments arguments, Surroundings around) throws Trouble {
        String url =
                arguments
                        .value(Arguments.URL)
                        .or(() -> around.variable(URL_VARIABLE))
                        .orElse(DEFAULT_URL);
        if (!url.matches("https?://[^/?#@\\s]+(/[^?#\\s]*)?")) {
            throw Trouble.usage(
                    "`" + url + "` is no URL of a gateway, such as http://10.0.0.1:8000");
        }
        return url.replaceFirst("/+$", "");
    }
}
