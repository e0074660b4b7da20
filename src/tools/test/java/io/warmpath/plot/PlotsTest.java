package io.warmpath.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Plots are well-formed, and show what they were given where it belongs. */
class PlotsTest {
    private static Element parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)))
                .getDocumentElement();
    }

    private static List<Double> numbers(Element svg, String tag, String attribute) {
        NodeList found = svg.getElementsByTagName(tag);
        List<Double> numbers = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            numbers.add(Double.valueOf(((Element) found.item(i)).getAttribute(attribute)));
        }
        return numbers;
    }

    @Test
    void a_chart_shows_each_point_the_higher_the_larger() throws Exception {
        Chart chart = new Chart("a < b & \"c\"", 1, 2, 3);
        chart.line("one", 0, 50, 100);
        List<Double> y = numbers(parsed(chart.svg()), "circle", "cy");
        assertEquals(3, y.size());
        assertEquals(y.get(0) - y.get(1), y.get(1) - y.get(2), 0.11);
        assertEquals(true, y.get(0) > y.get(2));
    }

    @Test
    void a_panel_of_bars_has_its_own_axis_and_a_name_its_own_colour() throws Exception {
        Bars bars = new Bars(List.of("a < b", "c"));
        bars.panel(
                "small",
                "x < 1",
                List.of(new Bars.Bar("a < b", 1, 2, 4, "&"), new Bars.Bar("c", 1, 1, 1, "")));
        bars.panel("large", "", List.of(new Bars.Bar("c", 400, 400, 400, "")));
        Element svg = parsed(Svg.file(bars.svg()));
        NodeList drawn = svg.getElementsByTagName("rect");
        List<Element> all = new ArrayList<>();
        for (int i = 1; i < drawn.getLength(); i++) { // without the ground
            all.add((Element) drawn.item(i));
        }
        double[] height =
                all.stream()
                        .mapToDouble(e -> Double.parseDouble(e.getAttribute("height")))
                        .toArray();
        assertEquals(height[0], 2 * height[1], 0.11, "twice the value");
        assertEquals(height[2], 2 * height[0], 0.11, "each panel reaches its own top");
        List<String> fill = all.stream().map(e -> e.getAttribute("fill")).toList();
        assertEquals(fill.get(1), fill.get(2), "one name");
        assertEquals(fill.subList(0, 2), fill.subList(3, 5), "the legend");
        assertEquals(
                "a < b: 2, &",
                all.getFirst().getElementsByTagName("title").item(0).getTextContent());
        assertThrows(
                IllegalArgumentException.class,
                () -> bars.panel("", "", List.of(new Bars.Bar("d", 0, 0, 0, ""))));
    }

    @Test
    void bars_of_a_timeline_that_overlap_share_a_row_and_others_do_not() throws Exception {
        Timeline timeline = new Timeline("engines", 10);
        timeline.row(
                "w0 <&>",
                List.of(
                        new Timeline.Bar(0, 2, 5, 0, "first"),
                        new Timeline.Bar(4, 5, 6, 1, "beside it"),
                        new Timeline.Bar(5, 6, 7, -1, "after it")));
        timeline.row("w1", List.of(new Timeline.Bar(0, 1, 2, 0, "elsewhere")));
        Element svg = parsed(timeline.svg());
        List<Double> y = numbers(svg, "rect", "y");
        List<Double> x = numbers(svg, "rect", "x");
        List<Double> width = numbers(svg, "rect", "width");
        assertEquals(8, y.size(), "two parts each");
        assertEquals(y.get(0), y.get(4), "after it");
        assertEquals(true, y.get(2) > y.get(0), "beside it");
        assertEquals(true, y.get(6) > y.get(2), "the next row");
        assertEquals(x.get(0) + width.get(0), x.get(1), 0.11, "begun, then going on");
        assertEquals(width.get(0) * 1.5, width.get(1), 0.2, "2 s and 3 s");
    }
}
