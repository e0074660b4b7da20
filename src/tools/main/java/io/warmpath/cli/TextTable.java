package io.warmpath.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Rows under heads. Columns of which no row knows anything are left out, and, where the width does
 * not hold all, those that matter least. One thread.
 */
final class TextTable {
    private static final String GAP = "  ";

    /** Of the first column, when it is shortened. */
    private static final int LEAST = 4;

    /**
     * @param right numbers
     * @param weight columns with less go first; those without limit stay
     */
    record Column(String head, boolean right, int weight) {
        static final int STAYS = Integer.MAX_VALUE;

        static Column text(String head, int weight) {
            return new Column(head, false, weight);
        }

        static Column number(String head, int weight) {
            return new Column(head, true, weight);
        }
    }

    private final List<Column> columns;
    private final List<List<Span>> rows = new ArrayList<>();

    TextTable(List<Column> columns) {
        this.columns = List.copyOf(columns);
    }

    void row(List<Span> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException(cells.size() + " cells in " + columns.size());
        }
        rows.add(List.copyOf(cells));
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    /** The first column is shortened when even those that stay are too wide. */
    List<String> lines(int width, boolean colours) {
        List<Integer> shown = shown(width);
        int over = total(shown) - width;
        int first = over > 0 ? Math.max(LEAST, widest(0) - over) : widest(0);
        List<String> lines = new ArrayList<>();
        lines.add(
                line(
                        columns.stream().map(c -> new Span(c.head(), Tone.FAINT)).toList(),
                        shown,
                        first,
                        colours));
        rows.forEach(row -> lines.add(line(row, shown, first, colours)));
        return lines;
    }

    private List<Integer> shown(int width) {
        List<Integer> shown = new ArrayList<>();
        for (int c = 0; c < columns.size(); c++) {
            if (columns.get(c).weight() == Column.STAYS || tells(c)) {
                shown.add(c);
            }
        }
        while (total(shown) > width) {
            int least =
                    Collections.min(
                            shown,
                            (a, b) ->
                                    Integer.compare(
                                            columns.get(a).weight(), columns.get(b).weight()));
            if (columns.get(least).weight() == Column.STAYS) {
                break;
            }
            shown.remove((Integer) least);
        }
        return shown;
    }

    private boolean tells(int column) {
        return rows.stream()
                .map(row -> row.get(column).text())
                .anyMatch(text -> !text.isEmpty() && !text.equals(Words.NONE));
    }

    private int total(List<Integer> shown) {
        return shown.stream().mapToInt(this::widest).sum() + GAP.length() * (shown.size() - 1);
    }

    private int widest(int column) {
        int widest = columns.get(column).head().length();
        for (List<Span> row : rows) {
            widest = Math.max(widest, row.get(column).length());
        }
        return widest;
    }

    private String line(List<Span> cells, List<Integer> shown, int first, boolean colours) {
        StringBuilder line = new StringBuilder();
        for (int c : shown) {
            int width = c == 0 ? first : widest(c);
            Span cell = cells.get(c).cut(width);
            String blanks = " ".repeat(width - cell.length());
            String painted = cell.tone().paint(cell.text(), colours);
            line.append(c == shown.getFirst() ? "" : GAP)
                    .append(columns.get(c).right() ? blanks + painted : painted + blanks);
        }
        return line.toString().stripTrailing();
    }
}
