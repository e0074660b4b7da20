package io.warmpath.sim.demo;

import io.warmpath.plot.Svg;
import java.util.ArrayList;
import java.util.List;

/**
 * A small table, for the terminal and for the page. The first column is text, the others are
 * numbers and stand to the right. {@code rows}: as long as the head.
 */
record DemoTable(List<String> head, List<List<String>> rows) {
    private static final String GAP = "  ";

    /** Lines, without spaces at their ends. */
    List<String> lines() {
        List<List<String>> all = new ArrayList<>(List.of(head));
        all.addAll(rows);
        List<String> lines = new ArrayList<>();
        for (List<String> row : all) {
            StringBuilder line = new StringBuilder();
            for (int c = 0; c < head.size(); c++) {
                int column = c;
                int width = all.stream().mapToInt(r -> r.get(column).length()).max().orElse(0);
                String pad = " ".repeat(width - row.get(c).length());
                line.append(c == 0 ? row.get(c) + pad : GAP + pad + row.get(c));
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    String html() {
        StringBuilder out = new StringBuilder("<table>\n");
        row(out, "th", head);
        rows.forEach(r -> row(out, "td", r));
        return out.append("</table>\n").toString();
    }

    private static void row(StringBuilder out, String cell, List<String> texts) {
        out.append("<tr>");
        for (String text : texts) {
            out.append('<').append(cell).append('>').append(Svg.text(text));
            out.append("</").append(cell).append('>');
        }
        out.append("</tr>\n");
    }
}
