package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * Cuts a template's source into tokens, with Jinja's rules for white space: trim_blocks and
 * lstrip_blocks on, the last newline of the source dropped, CR LF and CR taken as LF. One use.
 * Linear time.
 */
final class Lexer {
    enum TokenType {
        DATA,
        VARIABLE_BEGIN,
        VARIABLE_END,
        BLOCK_BEGIN,
        BLOCK_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        EOF
    }

    /**
     * @param text of a string its value, of everything else what stands in the source
     * @param number value of an integer (Long or BigInteger) or float (Double); else the text
     */
    record Token(TokenType type, String text, Object number, int line) {
        boolean is(TokenType t, String s) {
            return type == t && text.equals(s);
        }
    }

    private static final int MAX_SOURCE_CHARS = 1 << 20;
    private static final String[] OPERATORS = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{",
        "}", ">", "<", "=", ".", ":", "|", ",", ";"
    };

    private final String src;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    private int line = 1;

    /** What was read last ended a line, so that blanks before a block tag are its indent. */
    private boolean lineStarting = true;

    private Lexer(String src) {
        this.src = src;
    }

    static List<Token> tokens(String template) {
        if (template.length() > MAX_SOURCE_CHARS) {
            throw TemplateException.unsupported(1, "a template of over a million characters");
        }
        String src = newlines(template);
        if (src.endsWith("\n")) {
            src = src.substring(0, src.length() - 1);
        }
        Lexer lexer = new Lexer(src);
        lexer.root();
        lexer.add(TokenType.EOF, "", "");
        return lexer.tokens;
    }

    private static String newlines(String text) {
        return text.indexOf('\r') < 0 ? text : text.replace("\r\n", "\n").replace('\r', '\n');
    }

    private void add(TokenType type, String text, Object number) {
        tokens.add(new Token(type, text, number, line));
    }

    private void root() {
        while (at < src.length()) {
            int open = nextTag(at);
            if (open < 0) {
                data(src.substring(at));
                at = src.length();
                return;
            }
            char kind = src.charAt(open + 1);
            char sign = open + 2 < src.length() ? src.charAt(open + 2) : 0;
            boolean signed = sign == '-' || sign == '+';
            text(src.substring(at, open), signed ? sign : 0, kind != '{');
            at = open + 2 + (signed ? 1 : 0);
            lineStarting = false;
            switch (kind) {
                case '#' -> comment();
                case '{' -> inside(TokenType.VARIABLE_BEGIN);
                default -> {
                    if (!raw()) {
                        inside(TokenType.BLOCK_BEGIN);
                    }
                }
            }
        }
    }

    /** Text before a tag; lines that are stripped off count as well. */
    private void text(String text, char sign, boolean block) {
        String kept = stripped(text, sign, block);
        data(kept);
        line += count(text) - count(kept);
    }

    private static int count(String text) {
        int n = 0;
        for (int i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) {
            n++;
        }
        return n;
    }

    private String stripped(String text, char sign, boolean block) {
        if (sign == '-') {
            return PyText.rstrip(text);
        }
        if (sign == '+' || !block) {
            return text;
        }
        int start = text.lastIndexOf('\n') + 1;
        boolean indent = start > 0 || lineStarting;
        for (int i = start; i < text.length() && indent; i++) {
            indent = PyText.isSpace(text.charAt(i));
        }
        return indent ? text.substring(0, start) : text;
    }

    private void data(String text) {
        if (!text.isEmpty()) {
            add(TokenType.DATA, text, "");
            line += count(text);
        }
    }

    private int nextTag(int from) {
        for (int i = src.indexOf('{', from); i >= 0; i = src.indexOf('{', i + 1)) {
            if (i + 1 < src.length() && "{%#".indexOf(src.charAt(i + 1)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    private void comment() {
        int end = src.indexOf("#}", at);
        if (end < 0) {
            throw TemplateException.syntax(line, "comment without its end");
        }
        line += count(src.substring(at, end));
        char mark = end > at ? src.charAt(end - 1) : 0;
        at = end + 2;
        afterTag(mark, true);
    }

    /** Eats what a closing mark eats; sets whether the next text starts a line. */
    private void afterTag(char mark, boolean trimNewline) {
        lineStarting = false;
        if (mark == '-') {
            while (at < src.length() && PyText.isSpace(src.charAt(at))) {
                eat();
            }
        } else if (mark != '+' && trimNewline && at < src.length() && src.charAt(at) == '\n') {
            eat();
        }
    }

    private void eat() {
        lineStarting = src.charAt(at) == '\n';
        if (lineStarting) {
            line++;
        }
        at++;
    }

    /** {@code raw ... endraw}; false when the block tag at hand is another one. */
    private boolean raw() {
        int p = skipSpace(at);
        if (!src.startsWith("raw", p)) {
            return false;
        }
        p = skipSpace(p + 3);
        boolean minus = src.startsWith("-%}", p);
        if (!minus && !src.startsWith("%}", p)) {
            return false;
        }
        line += count(src.substring(at, p));
        at = p + (minus ? 3 : 2);
        afterTag(minus ? '-' : '+', false);
        for (int open = src.indexOf("{%", at); open >= 0; open = src.indexOf("{%", open + 1)) {
            char sign = open + 2 < src.length() ? src.charAt(open + 2) : 0;
            boolean signed = sign == '-' || sign == '+';
            int q = skipSpace(open + 2 + (signed ? 1 : 0));
            if (!src.startsWith("endraw", q)) {
                continue;
            }
            q = skipSpace(q + 6);
            char mark = q < src.length() ? src.charAt(q) : 0;
            int close = mark == '-' || mark == '+' ? q + 1 : q;
            if (!src.startsWith("%}", close)) {
                continue;
            }
            text(src.substring(at, open), signed ? sign : 0, true);
            line += count(src.substring(open, close));
            at = close + 2;
            afterTag(mark, true);
            return true;
        }
        throw TemplateException.syntax(line, "raw without endraw");
    }

    private int skipSpace(int from) {
        int p = from;
        while (p < src.length() && PyText.isSpace(src.charAt(p))) {
            p++;
        }
        return p;
    }

    private void inside(TokenType begin) {
        boolean block = begin == TokenType.BLOCK_BEGIN;
        add(begin, "", "");
        Deque<Character> open = new ArrayDeque<>();
        while (at < src.length()) {
            if (open.isEmpty() && ends(block)) {
                return;
            }
            char c = src.charAt(at);
            if (PyText.isSpace(c)) {
                eat();
            } else if (c == '\'' || c == '"') {
                string(c);
            } else if (c >= '0' && c <= '9') {
                number();
            } else if (isNameChar(c)) {
                name();
            } else {
                operator(open);
            }
        }
        throw TemplateException.syntax(line, "tag without its end");
    }

    private boolean ends(boolean block) {
        char c = src.charAt(at);
        String close = block ? "%}" : "}}";
        char mark = c == '-' || (block && c == '+') ? c : 0;
        if (!src.startsWith(close, mark == 0 ? at : at + 1)) {
            return false;
        }
        add(block ? TokenType.BLOCK_END : TokenType.VARIABLE_END, "", "");
        at += mark == 0 ? 2 : 3;
        afterTag(mark, block);
        return true;
    }

    private void operator(Deque<Character> open) {
        for (String op : OPERATORS) {
            if (!src.startsWith(op, at)) {
                continue;
            }
            switch (op) {
                case "{" -> open.push('}');
                case "(" -> open.push(')');
                case "[" -> open.push(']');
                case "}", ")", "]" -> {
                    if (open.isEmpty() || open.pop() != op.charAt(0)) {
                        throw TemplateException.syntax(line, "unexpected '" + op + "'");
                    }
                }
                default -> {}
            }
            add(TokenType.OPERATOR, op, "");
            at += op.length();
            return;
        }
        String c = Character.toString(src.codePointAt(at));
        if (Character.isUnicodeIdentifierPart(src.codePointAt(at))) {
            throw TemplateException.unsupported(line, "the letter " + c + " in a name");
        }
        throw TemplateException.syntax(line, "unexpected character " + c);
    }

    private static boolean isNameChar(char c) {
        return c == '_'
                || (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9');
    }

    private void name() {
        int start = at;
        while (at < src.length() && isNameChar(src.charAt(at))) {
            at++;
        }
        String name = src.substring(start, at).intern();
        add(TokenType.NAME, name, "");
    }

    private void number() {
        int start = at;
        int base = radix();
        if (base != 10) {
            at += 2;
            while (at < src.length() && digitOrScore(at, base)) {
                at++;
            }
            integer(src.substring(start + 2, at), base, start);
            return;
        }
        boolean afterDot = start > 0 && src.charAt(start - 1) == '.';
        digits();
        int intEnd = at;
        boolean isFloat = false;
        if (!afterDot) {
            if (at + 1 < src.length() && src.charAt(at) == '.' && isDigit(at + 1)) {
                at++;
                digits();
                isFloat = true;
            }
            int e = at;
            if (e < src.length() && (src.charAt(e) == 'e' || src.charAt(e) == 'E')) {
                int sign = e + 1 < src.length() && "+-".indexOf(src.charAt(e + 1)) >= 0 ? 1 : 0;
                if (isDigit(e + 1 + sign)) {
                    at = e + 1 + sign;
                    digits();
                    isFloat = true;
                }
            }
        }
        if (isFloat) {
            String text = src.substring(start, at);
            double value = Double.parseDouble(text.replace("_", ""));
            if (Double.isInfinite(value)) {
                throw TemplateException.unsupported(line, "a number as large as " + text);
            }
            add(TokenType.FLOAT, text, value);
            return;
        }
        at = intEnd;
        if (src.charAt(start) == '0') { // 012 is 0 and then 12
            at = start + 1;
            while (at < intEnd && (src.charAt(at) == '0' || src.charAt(at) == '_')) {
                at++;
            }
            while (src.charAt(at - 1) == '_') {
                at--;
            }
        }
        integer(src.substring(start, at), 10, start);
    }

    private int radix() {
        if (src.charAt(at) != '0' || at + 2 >= src.length()) {
            return 10;
        }
        int base =
                switch (src.substring(at + 1, at + 2).toLowerCase(Locale.ROOT)) {
                    case "x" -> 16;
                    case "o" -> 8;
                    case "b" -> 2;
                    default -> 10;
                };
        return base == 10 || digitOrScore(at + 2, base) ? base : 10;
    }

    private boolean digitOrScore(int i, int base) {
        if (src.charAt(i) == '_') {
            return i + 1 < src.length()
                    && src.charAt(i + 1) < 128
                    && Character.digit(src.charAt(i + 1), base) >= 0;
        }
        return src.charAt(i) < 128 && Character.digit(src.charAt(i), base) >= 0;
    }

    private boolean isDigit(int i) {
        return i < src.length() && src.charAt(i) >= '0' && src.charAt(i) <= '9';
    }

    private void digits() {
        while (at < src.length() && digitOrScore(at, 10)) {
            at++;
        }
    }

    private void integer(String digits, int base, int start) {
        Object value = PyNumbers.norm(new BigInteger(digits.replace("_", ""), base));
        add(TokenType.INTEGER, src.substring(start, at), value);
    }

    private void string(char quote) {
        int start = at + 1;
        int end = start;
        while (end < src.length() && src.charAt(end) != quote) {
            end += src.charAt(end) == '\\' ? 2 : 1;
        }
        if (end >= src.length()) {
            throw TemplateException.syntax(line, "string without its end");
        }
        String body = src.substring(start, end);
        String value = body.indexOf('\\') < 0 ? body : Escapes.decoded(body, line);
        add(TokenType.STRING, value.length() < 40 ? value.intern() : value, "");
        line += count(body);
        at = end + 1;
    }
}
