package io.warmpath.lab.policy;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The numbers that choices were made from, for those requests that somebody has asked about. One
 * thread, one run.
 */
public final class Why {
    private final BitSet wanted;
    private final int engines;
    private final Map<Integer, Map<String, double[]>> terms = new HashMap<>();
    private final Map<Integer, String> reasons = new HashMap<>();

    /** {@code wanted}: numbers of requests. {@code engines}: that there will be at most. */
    public Why(BitSet wanted, int engines) {
        this.wanted = (BitSet) wanted.clone();
        this.engines = engines;
    }

    boolean wants(int call) {
        return wanted.get(call);
    }

    void note(int call, int engine, String term, double value) {
        double[] all =
                terms.computeIfAbsent(call, c -> new LinkedHashMap<>())
                        .computeIfAbsent(
                                term,
                                t -> {
                                    double[] none = new double[engines];
                                    Arrays.fill(none, Double.NaN);
                                    return none;
                                });
        all[engine] = value;
    }

    void because(int call, String reason) {
        reasons.put(call, reason);
    }

    /** By term one value per engine, NaN for those that could not be chosen. */
    public Map<String, double[]> terms(int call) {
        return terms.getOrDefault(call, Map.of());
    }

    /** Empty when the numbers are all there is to say. */
    public String reason(int call) {
        return reasons.getOrDefault(call, "");
    }
}
