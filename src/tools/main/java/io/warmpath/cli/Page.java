package io.warmpath.cli;

import java.util.ArrayList;
import java.util.List;

/** Lines of text of a width, as they are made. One thread. */
final class Page {
    private static final String BETWEEN = "   ";

    private final int width;
    private final boolean colours;
    private final List<String> lines = new ArrayList<>();

    Page(int width, boolean colours) {
        this.width = width;
        this.colours = colours;
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    void blank() {
        lines.add("");
    }

    /** Side by side; in further lines what has no room in the first. */
    void spans(List<Span> spans) {
        StringBuilder line = new StringBuilder();
        int used = 0;
        for (Span whole : spans) {
            Span span = whole.cut(width);
            if (used > 0 && used + BETWEEN.length() + span.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
                used = 0;
            }
            if (used > 0) {
                line.append(BETWEEN);
                used += BETWEEN.length();
            }
            line.append(span.tone().paint(span.text(), colours));
            used += span.length();
        }
        lines.add(line.toString());
    }

    /** A text of words; lines after the first begin under its first word. */
    void text(String mark, String text, Tone tone) {
        StringBuilder line = new StringBuilder(mark);
        int empty = line.length();
        for (String word : Words.clean(text).strip().split(" +", -1)) {
            if (line.length() > empty && line.length() + 1 + word.length() > width) {
                lines.add(tone.paint(line.toString(), colours));
                line.setLength(0);
                line.append(" ".repeat(mark.length()));
                empty = line.length();
            }
            line.append(line.length() > empty ? " " : "").append(word);
        }
        lines.add(tone.paint(line.toString(), colours));
    }

    void table(TextTable table) {
        lines.addAll(table.lines(width, colours));
    }
}
