package io.warmpath.plot;

/** What the plots of a page have in common. Stateless. */
public final class Svg {
    /** For the page's style sheet. */
    public static final String STYLE =
            """
            svg{margin:4px 8px 4px 0}
            .t{font-size:12px;font-weight:600} .x,.y,.l{font-size:10px} .x{text-anchor:middle}
            .y{text-anchor:end} .g{stroke:#ddd}
            """;

    private Svg() {}

    /**
     * A picture as a file of its own, on white, with the style that a page would give it.
     *
     * @param picture one element {@code svg}
     */
    public static String file(String picture) {
        String lead = "<svg ";
        int inside = picture.indexOf('>') + 1;
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" "
                + picture.substring(lead.length(), inside)
                + "\n<style>\n"
                + STYLE
                + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
                + picture.substring(inside)
                + "\n";
    }

    /** As text, or as the value of an attribute in double quotes. */
    public static String text(String raw) {
        return raw.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** One of many that are easy to tell apart. {@code number}: from 0. */
    public static String colour(int number) {
        return "hsl(" + number * 137 % 360 + " 65% 40%)";
    }
}
