package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.PressureCurve.Point;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Fault;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Workload;
import io.warmpath.routing.rates.FleetPressure;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pressure of 1 is the rate from which on queues grow without end, to 15 % either way. */
@Tag("slow")
class PressureCurveTest {
    private static final PolicyCatalog.Named POLICY = PolicyCatalog.find("latency").orElseThrow();

    /** A scenario whose queues grow from this load on, as {@code lab pressure} finds it. */
    private record Edge(Scenario scenario, double load, Workload workload) {
        Edge(Scenario scenario, double load) {
            this(scenario, load, scenario.draw().apply(1));
        }

        Edge(String name, double load) {
            this(Scenarios.find(name).orElseThrow(), load);
        }

        Point at(double part) {
            return PressureCurve.at(scenario, POLICY, part * load, workload, LabMainTest.NATIVE);
        }
    }

    private static double arriving(FleetPressure p) {
        return p.value() - p.waiting();
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"chat, 1.02", "noshare, 1.06", "groups, 1.03", "long-answers, 0.932", "conv, 1.07"})
    void it_is_below_1_where_a_fleet_keeps_up_and_above_where_queues_grow(
            String name, double load) {
        Edge edge = new Edge(name, load);
        Point below = edge.at(0.85);
        Point above = edge.at(1.15);
        assertFalse(below.grows(), below.toString());
        assertTrue(above.grows(), above.toString());
        assertTrue(below.pressure().value() < 1, below.toString());
        assertTrue(above.pressure().value() > 1, above.toString());
        assertEquals(1, arriving(edge.at(1).pressure()), 0.15, "what arrives at the edge");

        Point quarter = edge.at(0.25);
        Point half = edge.at(0.5);
        assertEquals(0.5, half.pressure().value(), 0.15, half.toString());
        assertTrue(quarter.pressure().value() < half.pressure().value(), quarter.toString());
        assertTrue(half.pressure().value() < below.pressure().value(), half.toString());
    }

    /** The control: without steps and queues the bounds above are missed. */
    @Test
    void the_booked_part_of_the_time_alone_is_far_below_1_with_queues_that_grow() {
        Edge edge = new Edge("long-answers", 0.932);
        Point above = edge.at(1.15);
        assertTrue(above.grows(), above.toString());
        assertTrue(booked(above) < 0.85, above.toString());
        Point on = edge.at(1);
        assertTrue(booked(on) < 0.7, on.toString());
    }

    private static double booked(Point at) {
        return at.pressure().prefill() + at.pressure().decode();
    }

    @Test
    void it_goes_by_speeds_that_are_learnt() {
        Scenario noshare = Scenarios.find("noshare").orElseThrow();
        Edge edge =
                new Edge(
                        noshare.withFaults(
                                IntStream.range(0, noshare.engines())
                                        .mapToObj(
                                                engine ->
                                                        Fault.parse("speed@0s:" + engine + ":0.5"))
                                        .toList()),
                        0.53);
        Point below = edge.at(0.85);
        Point above = edge.at(1.15);
        assertFalse(below.grows(), below.toString());
        assertTrue(above.grows(), above.toString());
        assertTrue(below.pressure().value() < 1, below.toString());
        assertTrue(arriving(above.pressure()) > 0.85, above.toString());
        assertTrue(above.pressure().value() > 1, above.toString());
        assertEquals(0.5, edge.at(0.5).pressure().value(), 0.1, "not half of it");
    }
}
