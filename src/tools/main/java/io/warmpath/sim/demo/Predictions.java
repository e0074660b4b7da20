package io.warmpath.sim.demo;

import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * How right the gateway was about what each turn would find cached.
 *
 * <p>A prediction is made when a request is routed; what the engine finds is counted when it begins
 * to compute the prompt. In between others may change the cache, which nobody can know before.
 * Where nothing is ever given up, that is one case only: another prompt with the same beginning, on
 * the same engine, was still being computed, so that more is found than there was. Where engines
 * give up blocks, any other prompt on that engine may have done it.
 *
 * @param equal turns of which exactly as many tokens were cached as predicted
 * @param overtaken turns of which others were, for such a reason
 * @param wrong all other turns
 */
record Predictions(int equal, List<Played> overtaken, List<Played> wrong) {
    /**
     * @param beginning number of the system prompt of a conversation
     * @param roomy nothing was ever given up
     */
    static Predictions of(List<Played> run, IntUnaryOperator beginning, boolean roomy) {
        List<Played> others = run.stream().filter(p -> !p.asPredicted()).toList();
        List<Played> overtaken =
                others.stream()
                        .filter(
                                p ->
                                        p.predictedTokens() >= 0
                                                && run.stream()
                                                        .anyMatch(
                                                                o ->
                                                                        changed(
                                                                                o, p, beginning,
                                                                                roomy)))
                        .toList();
        return new Predictions(
                run.size() - others.size(),
                overtaken,
                others.stream().filter(p -> !overtaken.contains(p)).toList());
    }

    private static boolean changed(
            Played other, Played of, IntUnaryOperator beginning, boolean roomy) {
        if (other.turn().equals(of.turn())
                || !other.worker().equals(of.worker())
                || !other.metBeforeFirstToken(of)) {
            return false;
        }
        return !roomy
                || (beginning.applyAsInt(other.turn().conversation())
                                == beginning.applyAsInt(of.turn().conversation())
                        && of.reportedTokens() > of.predictedTokens()
                        && other.reportedTokens() < of.reportedTokens());
    }

    int turns() {
        return equal + overtaken.size() + wrong.size();
    }
}
