package io.warmpath.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
