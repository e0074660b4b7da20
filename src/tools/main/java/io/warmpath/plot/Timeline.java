package io.warmpath.plot;

import static io.warmpath.plot.Plain.plain;

import java.util.ArrayList;
import java.util.List;

/**
 * Who did what when, as SVG: a row for each actor, a bar for each piece of work, full while it is
 * being begun and pale from then on. Bars of one row that overlap in time share its height. Styled
 * by {@link Svg#STYLE}. One thread, used once.
 */
public final class Timeline {
    private static final int WIDTH = 1310;
    private static final int LEFT = 52;
    private static final int RIGHT = 8;
    private static final int TOP = 24;
    private static final int BOTTOM = 20;
    private static final int LANE = 7;
    private static final int GAP = 8;
    private static final int TICKS = 10;

    private final String title;
    private final double seconds;
    private final StringBuilder marks = new StringBuilder();
    private int y = TOP;

    /**
     * One piece of work; times in seconds.
     *
     * @param begun when the full part ends and the pale one begins
     * @param colour as for {@link Svg#colour}; below 0: grey
     * @param label shown beside the pointer
     */
    public record Bar(double from, double begun, double until, int colour, String label) {}

    /** {@code seconds}: length of the axis, above 0. */
    public Timeline(String title, double seconds) {
        this.title = title;
        this.seconds = seconds;
    }

    /** {@code bars}: in the order in which they start. */
    public void row(String name, List<Bar> bars) {
        List<Double> free = new ArrayList<>(); // by lane: from when on
        for (Bar bar : bars) {
            int lane = 0;
            while (lane < free.size() && free.get(lane) > bar.from()) {
                lane++;
            }
            if (lane == free.size()) {
                free.add(bar.until());
            } else {
                free.set(lane, bar.until());
            }
            draw(bar, y + lane * LANE);
        }
        int height = Math.max(1, free.size()) * LANE;
        marks.append(
                plain(
                        "<text x=\"%d\" y=\"%d\" class=\"y\">%s</text>"
                                + "<path class=\"g\" d=\"M%d %dH%d\"/>%n",
                        LEFT - 4,
                        y + height / 2 + 3,
                        Svg.text(name),
                        LEFT,
                        y + height + GAP / 2,
                        WIDTH - RIGHT));
        y += height + GAP;
    }

    private void draw(Bar bar, int top) {
        String colour = bar.colour() < 0 ? "#999" : Svg.colour(bar.colour());
        marks.append(
                plain(
                        "<g fill=\"%s\"><title>%s</title>"
                                + "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
                                + "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\""
                                + " opacity=\"0.35\"/></g>%n",
                        colour,
                        Svg.text(bar.label()),
                        x(bar.from()),
                        top,
                        x(bar.begun()) - x(bar.from()),
                        LANE - 1,
                        x(bar.begun()),
                        top,
                        x(bar.until()) - x(bar.begun()),
                        LANE - 1));
    }

    public String svg() {
        StringBuilder out = new StringBuilder();
        out.append(
                plain(
                        "<svg viewBox=\"0 0 %d %d\" width=\"%d\"><text x=\"%d\" y=\"15\""
                                + " class=\"t\">%s</text>%n",
                        WIDTH, y + BOTTOM, WIDTH, LEFT, Svg.text(title)));
        for (int i = 0; i <= TICKS; i++) {
            double at = seconds * i / TICKS;
            out.append(
                    plain(
                            "<text x=\"%.1f\" y=\"%d\" class=\"x\">%.1f s</text>%n",
                            Math.min(x(at), WIDTH - RIGHT - 12.0), y + BOTTOM - 6, at));
        }
        return out.append(marks).append("</svg>").toString();
    }

    private double x(double at) {
        return LEFT + at / seconds * (WIDTH - LEFT - RIGHT);
    }
}
