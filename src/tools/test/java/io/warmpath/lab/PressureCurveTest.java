package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Workload;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pressure of 1 is the rate from which on queues grow without end. */
@Tag("slow")
class PressureCurveTest {
    private static final PolicyCatalog.Named POLICY = PolicyCatalog.find("latency").orElseThrow();

    private static PressureCurve.Point at(Scenario scenario, Workload workload, double load) {
        return PressureCurve.at(scenario, POLICY, load, workload, LabMainTest.NATIVE);
    }

    /**
     * @param keepsUp a load with which the fleet keeps up
     * @param grows one with which its queues grow; both from {@code lab pressure}
     */
    @ParameterizedTest
    @CsvSource({"noshare, 0.95, 1.2"})
    void it_is_below_1_where_a_fleet_keeps_up_and_above_where_queues_grow(
            String name, double keepsUp, double grows) {
        Scenario scenario = Scenarios.find(name).orElseThrow();
        Workload workload = scenario.draw().apply(1);
        PressureCurve.Point below = at(scenario, workload, keepsUp);
        PressureCurve.Point above = at(scenario, workload, grows);
        assertFalse(below.grows(), below.toString());
        assertTrue(above.grows(), above.toString());
        assertTrue(below.pressure().value() < 1, below.toString());
        assertTrue(above.pressure().value() > 1, above.toString());
    }
}
