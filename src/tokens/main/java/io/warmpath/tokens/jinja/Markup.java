package io.warmpath.tokens.jinja;

/** A text marked as safe; {@code +} escapes what is joined to it. */
record Markup(String text) {

    static Markup escaped(Object value) {
        return value instanceof Markup markup ? markup : new Markup(escape(Values.text(value)));
    }

    static String escape(String text) {
        StringBuilder out = null;
        for (int i = 0; i < text.length(); i++) {
            String with =
                    switch (text.charAt(i)) {
                        case '&' -> "&amp;";
                        case '<' -> "&lt;";
                        case '>' -> "&gt;";
                        case '\'' -> "&#39;";
                        case '"' -> "&#34;";
                        default -> "";
                    };
            if (!with.isEmpty() && out == null) {
                out = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (out != null) {
                if (with.isEmpty()) {
                    out.append(text.charAt(i));
                } else {
                    out.append(with);
                }
            }
        }
        return out == null ? text : out.toString();
    }
}
