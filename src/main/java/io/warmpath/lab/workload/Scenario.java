package io.warmpath.lab.workload;

import io.warmpath.sim.virtual.EngineModel;
import java.util.List;
import java.util.function.LongFunction;

/**
 * A workload and the fleet that it is put before.
 *
 * @param about in a few words
 * @param engines how many, unless the run says otherwise
 * @param hostFactor host memory as a multiple of the device's; 0: none
 * @param sloMillis time to the first token that nine of ten requests shall have
 * @param capacity the rate at which the cost {@code latency} just keeps that, seed 1; loads are
 *     parts of it. Found by {@code lab capacity}
 * @param faults what happens to the engines
 * @param draw the workload of a seed
 */
public record Scenario(
        String name,
        String about,
        EngineModel model,
        int engines,
        double hostFactor,
        double sloMillis,
        double capacity,
        List<Fault> faults,
        LongFunction<Workload> draw) {
    public Scenario {
        faults = List.copyOf(faults);
    }

    /** Those that are there from the beginning. */
    public int enginesAtStart() {
        return engines - (int) faults.stream().filter(f -> f.kind() == Fault.Kind.JOIN).count();
    }

    /** The same with another fleet. */
    public Scenario withEngines(int others) {
        return new Scenario(
                name, about, model, others, hostFactor, sloMillis, capacity, faults, draw);
    }

    /** The same with other requests, whose rate is so many times the scenario's at equal loads. */
    public Scenario withDraw(double rate, LongFunction<Workload> other) {
        return new Scenario(
                name, about, model, engines, hostFactor, sloMillis, capacity * rate, faults, other);
    }

    Scenario with(String otherName, String otherAbout, Fault... others) {
        return new Scenario(
                otherName,
                otherAbout,
                model,
                engines,
                hostFactor,
                sloMillis,
                capacity,
                List.of(others),
                draw);
    }
}
