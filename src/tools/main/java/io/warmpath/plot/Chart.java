package io.warmpath.plot;

import static io.warmpath.plot.Plain.plain;

import java.util.ArrayList;
import java.util.List;

/**
 * Lines over a common x axis as SVG, with a legend; styled by {@link Svg#STYLE}. One thread, used
 * once.
 */
public final class Chart {
    private static final int WIDTH = 430;
    private static final int HEIGHT = 220;
    private static final int LEFT = 52;
    private static final int BOTTOM = 24;
    private static final int TOP = 26;
    private static final int RIGHT = 8;
    private static final int TICKS = 4;

    private final String title;
    private final double[] x;
    private final List<String> names = new ArrayList<>();
    private final List<double[]> lines = new ArrayList<>();
    private double most;

    /** {@code x}: ascending. */
    public Chart(String title, double... x) {
        this.title = title;
        this.x = x;
    }

    /** {@code y}: as many as there are x. */
    public void line(String name, double... y) {
        names.add(name);
        lines.add(y);
        for (double v : y) {
            most = Math.max(most, v);
        }
    }

    public String svg() {
        StringBuilder out = new StringBuilder();
        int legend = 14 * Math.ceilDiv(names.size(), 3);
        out.append(
                plain(
                        "<svg viewBox=\"0 0 %d %d\" width=\"%d\"><text x=\"%d\" y=\"16\""
                                + " class=\"t\">%s</text>",
                        WIDTH, HEIGHT + legend, WIDTH, LEFT, Svg.text(title)));
        double top = most == 0 ? 1 : most;
        for (int i = 0; i <= TICKS; i++) {
            double value = top * i / TICKS;
            out.append(
                    plain(
                            "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\""
                                    + " class=\"y\">%s</text>",
                            LEFT,
                            y(value, top),
                            WIDTH - RIGHT,
                            LEFT - 4,
                            y(value, top) + 4,
                            number(value)));
        }
        for (int i = 0; i < x.length; i += Math.max(1, x.length / 6)) {
            out.append(
                    plain(
                            "<text x=\"%.1f\" y=\"%d\" class=\"x\">%s</text>",
                            x(i), HEIGHT - 8, number(x[i])));
        }
        for (int s = 0; s < lines.size(); s++) {
            StringBuilder path = new StringBuilder();
            StringBuilder dots = new StringBuilder();
            for (int i = 0; i < x.length; i++) {
                path.append(i == 0 ? 'M' : 'L')
                        .append(plain("%.1f %.1f", x(i), y(lines.get(s)[i], top)));
                if (x.length < 12) {
                    dots.append(
                            plain(
                                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\">"
                                            + "<title>%s: %s</title></circle>",
                                    x(i),
                                    y(lines.get(s)[i], top),
                                    Svg.colour(s),
                                    Svg.text(names.get(s)),
                                    number(lines.get(s)[i])));
                }
            }
            out.append(
                    plain(
                            "<path d=\"%s\" fill=\"none\" stroke=\"%s\"/>%s",
                            path, Svg.colour(s), dots));
            out.append(
                    plain(
                            "<text x=\"%d\" y=\"%d\" class=\"l\" fill=\"%s\">%s</text>",
                            LEFT + (s % 3) * 120,
                            HEIGHT + 8 + 14 * (s / 3),
                            Svg.colour(s),
                            Svg.text(names.get(s))));
        }
        return out.append("</svg>").toString();
    }

    private double x(int i) {
        double span = x[x.length - 1] - x[0];
        double part = span == 0 ? 0.5 : (x[i] - x[0]) / span;
        return LEFT + 6 + part * (WIDTH - LEFT - RIGHT - 12);
    }

    private static double y(double value, double top) {
        return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP);
    }

    private static String number(double value) {
        return value != Math.rint(value) && Math.abs(value) < 10
                ? plain("%.2f", value)
                : plain("%.0f", value);
    }
}
