package io.warmpath.plot;

import static io.warmpath.plot.Plain.plain;

import java.util.Formatter;
import java.util.List;
import java.util.Locale;

/**
 * Panels of bars beside each other as SVG, each with an axis of its own from 0, with one legend;
 * styled by {@link Svg#STYLE}. One thread, used once.
 */
public final class Bars {
    private static final int PANEL = 300;
    private static final int HEIGHT = 210;
    private static final int LEFT = 34;
    private static final int RIGHT = 8;
    private static final int TOP = 48;
    private static final int LEGEND = 20;
    private static final int NAME = 110;
    private static final int TICKS = 4;

    private final List<String> names;
    private final Formatter marks = new Formatter(Locale.ROOT);
    private int panels;

    /**
     * One bar.
     *
     * @param name one of the legend's, which gives it its colour
     * @param low the lower end of its spread, from 0
     * @param value its height
     * @param high the upper end of its spread
     * @param note shown beside the pointer
     */
    public record Bar(String name, double low, double value, double high, String note) {}

    /** {@code names}: of the legend, different ones. */
    public Bars(List<String> names) {
        this.names = List.copyOf(names);
    }

    /** Throws {@link IllegalArgumentException} when a bar's name is not in the legend. */
    public void panel(String title, String about, List<Bar> bars) {
        int left = panels++ * PANEL;
        double most = bars.stream().mapToDouble(Bar::high).max().orElse(0);
        double step = step(most == 0 ? 1 : most);
        double top = Math.max(step, most);
        text(left + 4, 14, "t", title);
        text(left + 4, 28, "l", about);
        for (int i = 0; i * step <= top; i++) {
            double y = y(i * step, top);
            marks.format(
                    "<path class=\"g\" d=\"M%d %.1fH%d\"/>", left + LEFT, y, left + PANEL - RIGHT);
            text(left + LEFT - 4, y + 4, "y", number(i * step));
        }
        double each = (double) (PANEL - LEFT - RIGHT) / Math.max(1, bars.size());
        for (int i = 0; i < bars.size(); i++) {
            draw(bars.get(i), left + LEFT + i * each, each, top);
        }
    }

    private void draw(Bar bar, double x, double each, double top) {
        int colour = names.indexOf(bar.name());
        if (colour < 0) {
            throw new IllegalArgumentException(bar.name() + " is not in the legend " + names);
        }
        double height = y(0, top) - y(bar.value(), top);
        double middle = x + each / 2;
        marks.format(
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\">"
                        + "<title>%s: %s, %s</title></rect>",
                x + each * 0.1,
                y(bar.value(), top),
                each * 0.8,
                height,
                Svg.colour(colour),
                Svg.text(bar.name()),
                number(bar.value()),
                Svg.text(bar.note()));
        if (bar.high() > bar.low()) {
            marks.format(
                    "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#222\"/>",
                    middle, y(bar.low(), top), y(bar.high(), top));
        }
        text(middle, y(bar.high(), top) - 4, "x", number(bar.value()));
    }

    public String svg() {
        int width = Math.max(1, panels) * PANEL;
        int perRow = Math.max(1, width / NAME);
        int height = HEIGHT + LEGEND * Math.ceilDiv(names.size(), perRow);
        for (int i = 0; i < names.size(); i++) {
            int x = 8 + i % perRow * NAME;
            int y = HEIGHT + i / perRow * LEGEND;
            marks.format(
                    "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>",
                    x, y, Svg.colour(i));
            text(x + 14, y + 9, "l", names.get(i));
        }
        String head = "<svg viewBox=\"0 0 %d %d\" width=\"%d\">\n".formatted(width, height, width);
        return head + marks + "</svg>";
    }

    private void text(double x, double y, String style, String text) {
        marks.format(
                "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>%n",
                x, y, style, Svg.text(text));
    }

    private static double y(double value, double top) {
        return HEIGHT - 16 - value / top * (HEIGHT - 16 - TOP);
    }

    /** 1, 2 or 5 times a power of ten, a few of which reach to the top. */
    private static double step(double top) {
        double power = Math.pow(10, Math.floor(Math.log10(top / TICKS)));
        double times = top / TICKS / power;
        return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    }

    private static String number(double value) {
        int digits = value == Math.rint(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return plain("%." + digits + "f", value);
    }
}
