package io.warmpath.lab.workload;

import io.warmpath.sim.virtual.EngineModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/**
 * A workload and the fleet that it is put before.
 *
 * @param about in a few words
 * @param engines how many, unless the run says otherwise
 * @param hostFactor host memory as a multiple of the device's; 0: none
 * @param poolFactor a pool that all engines fetch from, as a multiple of all devices' memory; 0:
 *     none
 * @param sloMillis time to the first token that nine of ten requests shall have
 * @param capacity the rate at which the cost {@code latency} just keeps that, seed 1; loads are
 *     parts of it. Found by {@code lab capacity --policies latency --percentile 90 --itl 1e9}
 * @param faults what happens to the engines
 * @param draw the workload of a seed
 */
public record Scenario(
        String name,
        String about,
        EngineModel model,
        int engines,
        double hostFactor,
        double poolFactor,
        double sloMillis,
        double capacity,
        List<Fault> faults,
        LongFunction<Workload> draw) {
    /**
     * @throws IllegalArgumentException when a fault is about an engine that there is not
     */
    public Scenario {
        faults = List.copyOf(faults);
        int there = engines - joins(faults);
        if (there < 1) {
            throw new IllegalArgumentException(
                    name + " has " + engines + " engines: one has to be there from the beginning");
        }
        for (Fault f : faults) {
            if (f.namesAnEngine() && f.engine() >= there) {
                throw new IllegalArgumentException(
                        name + ": no engine " + f.engine() + " at the beginning, of " + there);
            }
        }
        if (faults.stream().filter(f -> f.kind() == Fault.Kind.LEAVE).count() >= engines) {
            throw new IllegalArgumentException(name + ": all engines leave");
        }
    }

    /** Without a pool. */
    public Scenario(
            String name,
            String about,
            EngineModel model,
            int engines,
            double hostFactor,
            double sloMillis,
            double capacity,
            List<Fault> faults,
            LongFunction<Workload> draw) {
        this(name, about, model, engines, hostFactor, 0, sloMillis, capacity, faults, draw);
    }

    /** Those that are there from the beginning. */
    public int enginesAtStart() {
        return engines - joins(faults);
    }

    private static int joins(List<Fault> faults) {
        return (int) faults.stream().filter(f -> f.kind() == Fault.Kind.JOIN).count();
    }

    /** The same with another fleet. */
    public Scenario withEngines(int others) {
        return new Scenario(
                name,
                about,
                model,
                others,
                hostFactor,
                poolFactor,
                sloMillis,
                capacity,
                faults,
                draw);
    }

    /**
     * The same with more going wrong.
     *
     * @throws IllegalArgumentException when one is about an engine that there is not
     */
    public Scenario withFaults(List<Fault> more) {
        List<Fault> all = new ArrayList<>(faults);
        all.addAll(more);
        return new Scenario(
                name,
                about,
                model,
                engines,
                hostFactor,
                poolFactor,
                sloMillis,
                capacity,
                all,
                draw);
    }

    /** The same with a pool behind the engines, at the rate that the model says. */
    public Scenario withPool(double factor, EngineModel other) {
        return new Scenario(
                name, about, other, engines, hostFactor, factor, sloMillis, capacity, faults, draw);
    }

    /** The same with other engines; its capacity stays what it was found to be. */
    public Scenario withModel(EngineModel other) {
        return new Scenario(
                name,
                about,
                other,
                engines,
                hostFactor,
                poolFactor,
                sloMillis,
                capacity,
                faults,
                draw);
    }

    /** The same with other requests, whose rate is so many times the scenario's at equal loads. */
    public Scenario withDraw(double rate, LongFunction<Workload> other) {
        return new Scenario(
                name,
                about,
                model,
                engines,
                hostFactor,
                poolFactor,
                sloMillis,
                capacity * rate,
                faults,
                other);
    }

    Scenario with(String otherName, String otherAbout, Fault... others) {
        return new Scenario(
                otherName,
                otherAbout,
                model,
                engines,
                hostFactor,
                poolFactor,
                sloMillis,
                capacity,
                List.of(others),
                draw);
    }
}
