package io.warmpath.tokens.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a model's chat template (Jinja source) says exactly what a {@link ChatMlTemplate}
 * says, and with which literals. The template is cut into text, expressions and statements with the
 * engines' white-space rules (trim_blocks, lstrip_blocks). Only the statements of the linear form
 * are known; a template with any other (tools, thinking, macros) is not recognised. That keeps the
 * answer certain: a recognised template renders the same text for every conversation without tools.
 */
public final class ChatMlRecogniser {
    private static final String EACH_MESSAGE = "for message in messages";
    private static final String NO_SYSTEM =
            "if loop.first and messages[0].role != 'system'"; // after normalising
    private static final String GENERATION = "if add_generation_prompt";

    /** A text part or one of the two variables. */
    private sealed interface Node {}

    private record Literal(String text) implements Node {}

    private record Role() implements Node {}

    private record Content() implements Node {}

    private record Statement(String text) implements Node {}

    private ChatMlRecogniser() {}

    /**
     * @param specialTokens values of {@code bos_token} and so on, as the tokenizer's configuration
     *     gives them
     */
    public static Optional<ChatMlTemplate> recognise(
            String jinja, Map<String, String> specialTokens) {
        List<Node> nodes = new ArrayList<>();
        for (JinjaLexer.Piece piece : JinjaLexer.cut(jinja)) {
            switch (piece.kind()) {
                case TEXT -> nodes.add(new Literal(piece.text()));
                case STATEMENT -> nodes.add(new Statement(normalised(piece.text())));
                case EXPRESSION -> {
                    List<Node> sum = sum(piece.text(), specialTokens);
                    if (sum == null) {
                        return Optional.empty();
                    }
                    nodes.addAll(sum);
                }
            }
        }
        return Optional.ofNullable(match(new ArrayDeque<>(nodes)));
    }

    private static @Nullable ChatMlTemplate match(Deque<Node> rest) {
        // A default that engines always override: they pass add_generation_prompt.
        if (takes(rest, "if not add_generation_prompt is defined")
                && !(takes(rest, "set add_generation_prompt = false") && takes(rest, "endif"))) {
            return null;
        }
        String prefix = literals(rest);
        if (!takes(rest, EACH_MESSAGE)) {
            return null;
        }
        String defaultSystem = null;
        String beforeRole = literals(rest);
        if (takes(rest, NO_SYSTEM)) {
            if (!beforeRole.isEmpty()) {
                return null;
            }
            defaultSystem = literals(rest);
            if (!takes(rest, "endif")) {
                return null;
            }
            beforeRole = literals(rest);
        }
        if (!(rest.poll() instanceof Role)) {
            return null;
        }
        String afterRole = literals(rest);
        if (!(rest.poll() instanceof Content)) {
            return null;
        }
        String afterContent = literals(rest);
        if (!takes(rest, "endfor")) {
            return null;
        }
        String generationPrompt = "";
        if (takes(rest, GENERATION)) {
            generationPrompt = literals(rest);
            if (!takes(rest, "endif")) {
                return null;
            }
        }
        if (!rest.isEmpty()) {
            return null;
        }
        return new ChatMlTemplate(
                prefix, defaultSystem, beforeRole, afterRole, afterContent, generationPrompt);
    }

    private static boolean takes(Deque<Node> rest, String statement) {
        if (rest.peek() instanceof Statement(String text) && text.equals(statement)) {
            rest.poll();
            return true;
        }
        return false;
    }

    private static String literals(Deque<Node> rest) {
        StringBuilder out = new StringBuilder();
        while (rest.peek() instanceof Literal(String text)) {
            out.append(text);
            rest.poll();
        }
        return out.toString();
    }

    /** {@code 'a' + message['role'] + "b"}: its operands, or null when it is anything else. */
    private static @Nullable List<Node> sum(String expression, Map<String, String> specials) {
        List<Node> operands = new ArrayList<>();
        String rest = withoutOuterParentheses(expression.strip());
        while (true) {
            int end = operandEnd(rest);
            Node operand = operand(rest.substring(0, end).strip(), specials);
            if (operand == null) {
                return null;
            }
            operands.add(operand);
            if (end == rest.length()) {
                return operands;
            }
            rest = rest.substring(end + 1);
        }
    }

    private static int operandEnd(String text) {
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0) {
                if (c == '\\') {
                    i++;
                } else if (c == quote) {
                    quote = 0;
                }
            } else if (c == '\'' || c == '"') {
                quote = c;
            } else if (c == '+') {
                return i;
            }
        }
        return text.length();
    }

    private static @Nullable Node operand(String text, Map<String, String> specials) {
        return switch (normalised(text)) {
            case "message.role" -> new Role();
            case "message.content" -> new Content();
            default -> {
                String value = specials.get(text);
                String literal = value != null ? value : unquoted(text);
                yield literal == null ? null : new Literal(literal);
            }
        };
    }

    /** The value of one string literal, or null when the text is not exactly one. */
    private static @Nullable String unquoted(String text) {
        if (text.length() < 2 || (text.charAt(0) != '\'' && text.charAt(0) != '"')) {
            return null;
        }
        char quote = text.charAt(0);
        StringBuilder out = new StringBuilder();
        for (int i = 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == quote) {
                return i == text.length() - 1 ? out.toString() : null;
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            if (++i == text.length()) {
                return null;
            }
            switch (text.charAt(i)) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case '\\', '\'', '"' -> out.append(text.charAt(i));
                default -> {
                    return null; // an escape that is not worth a guess
                }
            }
        }
        return null;
    }

    /** One spelling for the same thing: single blanks, {@code a.b} for {@code a['b']}. */
    private static String normalised(String text) {
        return text.strip()
                .replaceAll("\\s+", " ")
                .replaceAll("\\[\\s*(['\"])(role|content)\\1\\s*]", ".$2")
                .replaceAll("\"(\\w*)\"", "'$1'");
    }

    private static String withoutOuterParentheses(String text) {
        boolean wrapped = text.startsWith("(") && text.endsWith(")");
        boolean only =
                wrapped && text.indexOf('(', 1) < 0 && text.indexOf(')') == text.length() - 1;
        return only ? text.substring(1, text.length() - 1) : text;
    }
}
