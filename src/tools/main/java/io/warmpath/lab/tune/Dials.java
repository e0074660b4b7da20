package io.warmpath.lab.tune;

import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What can be set of one of the product's two costs, as the configuration names it. Immutable. Left
 * out: the temperature, which only adds chance, and of the cost in milliseconds those numbers that
 * calibration measures and prefill alone depends on.
 */
public final class Dials {
    private final boolean latency;
    private final LatencyPriors priors;
    private final List<Dial> all;

    private Dials(boolean latency, LatencyPriors priors, List<Dial> all) {
        this.latency = latency;
        this.priors = priors;
        this.all = List.copyOf(all);
    }

    /**
     * Of the cost in blocks.
     *
     * @param hostTier engines have host memory, so that the worth of its blocks matters
     */
    public static Dials blocks(boolean hostTier) {
        BlockWeights d = BlockWeights.DEFAULT;
        List<Dial> all = new ArrayList<>();
        all.add(Dial.factors("overlap-score-credit", 0.25, 8, d.overlapCredit()));
        all.add(Dial.orZero("overlap-score-credit-decay", 0.1, 8, d.creditDecay()));
        all.add(Dial.factors("prefill-load-scale", 0.1, 256, d.prefillLoadScale()));
        all.add(Dial.orZero("decode-active-request-weight", 0.5, 512, d.activeRequestWeight()));
        if (hostTier) {
            all.add(Dial.part("host-cache-hit-weight", d.hostWeight()));
        }
        return new Dials(false, LatencyPriors.DEFAULT, all);
    }

    /** Of the cost in milliseconds. {@code priors}: what holds of the engines. */
    public static Dials latency(LatencyPriors priors) {
        double request = priors.decodeMillisPerRequest() * 1e3;
        double token = priors.decodeMillisPerToken() * 1e6;
        String prefix = "latency.";
        return new Dials(
                true,
                priors,
                List.of(
                        Dial.orZero(prefix + "work-price", 0.1, 8, priors.workPrice()),
                        Dial.factors(
                                prefix + "decode-micros-per-request",
                                request / 4,
                                request * 4,
                                request),
                        Dial.factors(
                                prefix + "decode-nanos-per-token", token / 4, token * 4, token)));
    }

    /** The positions of what holds when nobody sets anything. */
    public double[] start() {
        return all.stream().mapToDouble(d -> d.position(d.start())).toArray();
    }

    public RouterOptions options(double[] positions) {
        double[] v = values(positions);
        RouterOptions kv = RouterOptions.of(RouterMode.KV);
        if (latency) {
            return kv.with(
                    CostKind.LATENCY,
                    new LatencyPriors(
                            priors.stepMillis(),
                            v[1] / 1e3,
                            v[2] / 1e6,
                            priors.prefillMillisPerToken(),
                            priors.prefillMillisPerPair(),
                            priors.hostTokensPerSecond(),
                            priors.poolTokensPerSecond(),
                            v[0],
                            priors.outputTokens()));
        }
        BlockWeights d = BlockWeights.DEFAULT;
        return kv.with(CostKind.BLOCKS)
                .with(
                        new BlockWeights(
                                v[0],
                                v[1],
                                v[2],
                                v.length > 4 ? v[4] : d.hostWeight(),
                                d.diskWeight(),
                                d.sharedMultiplier(),
                                d.sharedRule(),
                                v[3],
                                d.trackPrefill()));
    }

    public double[] values(double[] positions) {
        double[] v = new double[positions.length];
        for (int i = 0; i < v.length; i++) {
            v[i] = all.get(i).value(positions[i]);
        }
        return v;
    }

    /** What makes a gateway decide like this. */
    public Settings settings(double[] positions) {
        Map<String, Double> values = new LinkedHashMap<>();
        double[] v = values(positions);
        for (int i = 0; i < v.length; i++) {
            values.put(all.get(i).key(), v[i]);
        }
        return (latency ? Settings.of(priors) : Settings.of(CostKind.BLOCKS)).with(values);
    }
}
