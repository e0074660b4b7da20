package io.warmpath.gateway.request;

/** Small pieces of JSON, written by hand: no boxed number for each of 100,000 ids. */
public final class JsonText {
    private JsonText() {}

    public static void array(int[] numbers, StringBuilder to) {
        to.append('[');
        for (int i = 0; i < numbers.length; i++) {
            if (i > 0) {
                to.append(',');
            }
            to.append(numbers[i]);
        }
        to.append(']');
    }

    public static String quoted(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                // A lone surrogate has no UTF-8 form; as an escape it survives.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
