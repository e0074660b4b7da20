package io.warmpath.tokens.profile;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON text as an engine's JSON library does: tool call arguments come as text inside of
 * JSON. One per text.
 */
final class ArgumentsJson {
    /** Where engines differ. */
    enum Library {
        /** Python's json: NaN and Infinity, integers of any size. */
        PYTHON,
        /** orjson: neither; integers beyond 64 bits become floats, half surrogates are errors. */
        ORJSON
    }

    /** It is not JSON. */
    static final class NotJson extends Exception {
        private static final long serialVersionUID = 1L;

        NotJson(int at) {
            super("at character " + at, null, false, false);
        }
    }

    /** As deep as a template may have its values. */
    private static final int MAX_DEPTH = 190;

    /** Python refuses to read longer integers, with an error of the server. */
    private static final int MAX_DIGITS = 4300;

    private static final BigInteger MAX_U64 = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger MIN_I64 = BigInteger.valueOf(Long.MIN_VALUE);

    private final String text;
    private final Library library;
    private int at;

    private ArgumentsJson(String text, Library library) {
        this.text = text;
        this.library = library;
    }

    /** Values of Java as {@link ChatRequest} has them. */
    static @Nullable Object parse(String text, Library library) throws NotJson {
        ArgumentsJson json = new ArgumentsJson(text, library);
        json.space();
        Object value = json.value(0);
        json.space();
        if (json.at < text.length()) {
            throw json.error();
        }
        return value;
    }

    private NotJson error() {
        return new NotJson(at);
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private void space() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') {
            at++;
        }
    }

    private boolean takes(String word) {
        if (text.startsWith(word, at)) {
            at += word.length();
            return true;
        }
        return false;
    }

    private @Nullable Object value(int depth) throws NotJson {
        if (depth > MAX_DEPTH) {
            throw NotRendered.unpredictable("tool call arguments nested over 190 levels");
        }
        switch (peek()) {
            case '{' -> {
                return object(depth);
            }
            case '[' -> {
                return array(depth);
            }
            case '"' -> {
                return string();
            }
            case 't' -> {
                return word("true", true);
            }
            case 'f' -> {
                return word("false", false);
            }
            case 'n' -> {
                return word("null", null);
            }
            default -> {
                return number();
            }
        }
    }

    private @Nullable Object word(String word, @Nullable Object value) throws NotJson {
        if (!takes(word)) {
            throw error();
        }
        return value;
    }

    private Map<String, @Nullable Object> object(int depth) throws NotJson {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        at++;
        space();
        if (takes("}")) {
            return members;
        }
        while (true) {
            if (peek() != '"') {
                throw error();
            }
            String name = string();
            space();
            if (!takes(":")) {
                throw error();
            }
            space();
            members.put(name, value(depth + 1));
            space();
            if (takes("}")) {
                return members;
            }
            if (!takes(",")) {
                throw error();
            }
            space();
        }
    }

    private List<@Nullable Object> array(int depth) throws NotJson {
        List<@Nullable Object> items = new ArrayList<>();
        at++;
        space();
        if (takes("]")) {
            return items;
        }
        while (true) {
            items.add(value(depth + 1));
            space();
            if (takes("]")) {
                return items;
            }
            if (!takes(",")) {
                throw error();
            }
            space();
        }
    }

    private String string() throws NotJson {
        StringBuilder out = new StringBuilder();
        at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                if (library == Library.ORJSON) {
                    requireWellFormed(out);
                }
                return out.toString();
            }
            if (c < 0x20) {
                throw error();
            }
            out.append(c == '\\' ? escape() : c);
        }
        throw error();
    }

    private char escape() throws NotJson {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw error();
        };
    }

    private char unicode() throws NotJson {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            char c = peek();
            int digit = c < 0x80 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw error();
            }
            code = code * 16 + digit;
            at++;
        }
        return (char) code;
    }

    private void requireWellFormed(CharSequence made) throws NotJson {
        for (int i = 0; i < made.length(); i++) {
            boolean pair =
                    i + 1 < made.length()
                            && Character.isSurrogatePair(made.charAt(i), made.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isSurrogate(made.charAt(i))) {
                throw error();
            }
        }
    }

    private Object number() throws NotJson {
        if (library == Library.PYTHON) {
            if (takes("NaN")) {
                return Double.NaN;
            }
            if (takes("Infinity")) {
                return Double.POSITIVE_INFINITY;
            }
            if (takes("-Infinity")) {
                return Double.NEGATIVE_INFINITY;
            }
        }
        int from = at;
        takes("-");
        if (!takes("0") && digits() == 0) {
            throw error();
        }
        int whole = at;
        if (peek() == '.') {
            at++;
            if (digits() == 0) {
                throw error();
            }
        }
        if (peek() == 'e' || peek() == 'E') {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            if (digits() == 0) {
                throw error();
            }
        }
        String number = text.substring(from, at);
        return at == whole ? integer(number) : real(number);
    }

    private int digits() {
        int from = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        return at - from;
    }

    private Object integer(String number) throws NotJson {
        if (number.length() > MAX_DIGITS) {
            throw NotRendered.unpredictable("an integer of over 4300 digits");
        }
        BigInteger value = new BigInteger(number);
        boolean fits = value.compareTo(MAX_U64) <= 0 && value.compareTo(MIN_I64) >= 0;
        return library == Library.PYTHON || fits ? value : real(number);
    }

    private Object real(String number) throws NotJson {
        double value = Double.parseDouble(number);
        if (library == Library.ORJSON && Double.isInfinite(value)) {
            throw error();
        }
        return value;
    }
}
