package io.warmpath.tokens.template;

import java.util.ArrayList;
import java.util.List;

/**
 * Cuts a Jinja source into text, expressions and statements, with white space trimmed as chat
 * templates have it rendered: trim_blocks and lstrip_blocks on, one final newline dropped.
 */
final class JinjaLexer {
    enum Kind {
        TEXT,
        EXPRESSION,
        STATEMENT
    }

    /** Text as it is printed, or the inside of a tag without its marks. */
    record Piece(Kind kind, String text) {}

    private final String source;
    private final List<Piece> pieces = new ArrayList<>();
    private int at;

    private JinjaLexer(String source) {
        this.source = source;
    }

    static List<Piece> cut(String template) {
        String source = template.replace("\r\n", "\n").replace('\r', '\n');
        if (source.endsWith("\n")) {
            source = source.substring(0, source.length() - 1);
        }
        JinjaLexer lexer = new JinjaLexer(source);
        lexer.run();
        return lexer.pieces;
    }

    private void run() {
        while (at < source.length()) {
            int open = nextTag(at);
            if (open < 0) {
                text(source.substring(at));
                return;
            }
            char kind = source.charAt(open + 1);
            int inside = open + 2;
            char mark = inside < source.length() ? source.charAt(inside) : 0;
            String before = source.substring(at, open);
            if (mark == '-') {
                before = before.stripTrailing();
            } else if (kind != '{' && mark != '+') {
                before = withoutIndent(before, at == 0 || source.charAt(at - 1) == '\n');
            }
            text(before);
            if (mark == '-' || mark == '+') {
                inside++;
            }
            tag(kind, inside);
        }
    }

    private void tag(char kind, int inside) {
        int close = closing(kind, inside);
        if (close < 0) {
            // Not a template that any engine could load; as a statement it is never recognised.
            pieces.add(new Piece(Kind.STATEMENT, "unclosed tag"));
            at = source.length();
            return;
        }
        char mark = close > inside ? source.charAt(close - 1) : 0;
        int end = mark == '-' || mark == '+' ? close - 1 : close;
        if (kind != '#') {
            Kind as = kind == '{' ? Kind.EXPRESSION : Kind.STATEMENT;
            pieces.add(new Piece(as, source.substring(inside, end).strip()));
        }
        at = close + 2;
        if (mark == '-') {
            while (at < source.length() && Character.isWhitespace(source.charAt(at))) {
                at++;
            }
        } else if (kind != '{'
                && mark != '+'
                && at < source.length()
                && source.charAt(at) == '\n') {
            at++;
        }
    }

    private int nextTag(int from) {
        for (int i = source.indexOf('{', from); i >= 0; i = source.indexOf('{', i + 1)) {
            if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    /** Where the closing marks begin; quotes hide them, except in comments. */
    private int closing(char kind, int from) {
        String marks = kind == '{' ? "}}" : kind + "}";
        char quote = 0;
        for (int i = from; i < source.length(); i++) {
            char c = source.charAt(i);
            if (quote != 0) {
                if (c == '\\') {
                    i++;
                } else if (c == quote) {
                    quote = 0;
                }
            } else if (kind != '#' && (c == '\'' || c == '"')) {
                quote = c;
            } else if (source.startsWith(marks, i)) {
                return i;
            }
        }
        return -1;
    }

    private static String withoutIndent(String text, boolean startsLine) {
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == ' ' || text.charAt(end - 1) == '\t')) {
            end--;
        }
        boolean lineStart = end == 0 ? startsLine : text.charAt(end - 1) == '\n';
        return lineStart ? text.substring(0, end) : text;
    }

    private void text(String text) {
        if (!text.isEmpty()) {
            pieces.add(new Piece(Kind.TEXT, text));
        }
    }
}
