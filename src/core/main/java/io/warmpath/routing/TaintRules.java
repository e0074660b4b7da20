package io.warmpath.routing;

import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a request makes of workers' taints. Immutable.
 *
 * @param tolerated these do not keep it away
 * @param required only workers that have all of these will do; they are tolerated too
 * @param preferred workers that have these are cheaper, the more so the higher the weight; they are
 *     tolerated too
 */
public record TaintRules(
        List<TaintMatch> tolerated, List<TaintMatch> required, Map<TaintMatch, Double> preferred) {
    /** Says nothing of any. */
    public static final TaintRules NONE = new TaintRules(List.of(), List.of(), Map.of());

    /** Goes anywhere. */
    static final TaintRules ANY =
            new TaintRules(List.of(TaintMatch.parse("*")), List.of(), Map.of());

    public TaintRules {
        tolerated = List.copyOf(tolerated);
        required = List.copyOf(required);
        preferred = Map.copyOf(preferred);
    }

    public TaintRules tolerating(List<TaintMatch> more) {
        if (more.isEmpty()) {
            return this;
        }
        List<TaintMatch> all = new ArrayList<>(tolerated);
        all.addAll(more);
        return new TaintRules(all, required, preferred);
    }

    /** On workers without a taint the request has no wish either. */
    boolean asksForNone() {
        return required.isEmpty() && preferred.isEmpty();
    }

    /** Why the worker will not do; empty when it will. */
    String misses(Worker worker) {
        for (TaintMatch wanted : required) {
            if (!wanted.isOn(worker)) {
                return "taint " + wanted + " is missing";
            }
        }
        for (Taint taint : worker.taints()) {
            if (taint.effect() == Taint.Effect.NO_SCHEDULE && !tolerates(taint)) {
                return "taint " + taint + " is not tolerated";
            }
        }
        return "";
    }

    /** Weights of the preferred ones that it has, less one for each that would rather not. */
    double preference(Worker worker) {
        double sum = 0;
        for (Map.Entry<TaintMatch, Double> e : preferred.entrySet()) {
            sum += e.getKey().isOn(worker) ? e.getValue() : 0;
        }
        for (Taint taint : worker.taints()) {
            sum -= taint.effect() == Taint.Effect.PREFER_NO_SCHEDULE && !tolerates(taint) ? 1 : 0;
        }
        return sum;
    }

    /** What the worker's cost is multiplied by: 1/e to e. */
    double costFactor(Worker worker) {
        double preference = preference(worker);
        return preference == 0 ? 1 : Math.exp(-Math.tanh(preference));
    }

    private boolean tolerates(Taint taint) {
        return any(tolerated, taint)
                || any(required, taint)
                || preferred.keySet().stream().anyMatch(m -> m.covers(taint));
    }

    private static boolean any(List<TaintMatch> matches, Taint taint) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).covers(taint)) {
                return true;
            }
        }
        return false;
    }
}
