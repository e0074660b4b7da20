package io.warmpath.api.hints;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * Single values of {@code nvext}: each is checked and a wrong one refused with its path. The
 * current token is the value.
 */
final class NvextValues {
    private NvextValues() {}

    static void object(String at, JsonParser json) {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object" + but(json.currentToken()));
        }
    }

    static String text(String at, JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw bad(at, "`" + at + "` must be a string" + but(json.currentToken()));
        }
        return json.getText();
    }

    /** At most {@code max} characters. */
    static String text(String at, JsonParser json, int max) throws IOException {
        String text = text(at, json);
        if (text.length() > max) {
            throw bad(
                    at,
                    "`"
                            + at
                            + "` has at most "
                            + max
                            + " characters; this one has "
                            + text.length()
                            + ".");
        }
        return text;
    }

    static boolean flag(String at, JsonParser json) {
        JsonToken value = json.currentToken();
        if (!value.isBoolean()) {
            throw bad(at, "`" + at + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }

    /** An array of texts. */
    static void texts(String at, JsonParser json, Consumer<String> each) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw bad(at, "`" + at + "` must be an array of strings" + but(json.currentToken()));
        }
        int n = 0;
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t == null) {
                throw new IOException("unexpected end of input");
            }
            each.accept(text(at + "[" + n++ + "]", json));
        }
    }

    /** Any number there is. */
    static void number(String at, JsonParser json) {
        if (!json.currentToken().isNumeric()) {
            throw bad(at, "`" + at + "` must be a number" + but(json.currentToken()));
        }
    }

    /** A u32. */
    static long u32(String at, JsonParser json) throws IOException {
        JsonToken value = json.currentToken();
        if (value != JsonToken.VALUE_NUMBER_INT) {
            throw bad(at, "`" + at + "` must be an integer" + but(value));
        }
        boolean fits = json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        long n = fits ? json.getLongValue() : -1;
        if (n < 0 || n > 0xffff_ffffL) {
            throw bad(at, "`" + at + "` must be in 0..4294967295.");
        }
        return n;
    }
}
