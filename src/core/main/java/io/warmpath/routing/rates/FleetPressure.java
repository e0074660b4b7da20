package io.warmpath.routing.rates;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.WorkerLoad;
import java.util.List;

/**
 * Work that comes to a fleet, and work that waits there, against what its ranks can do: above 1
 * queues grow without end. Parts of the time of all ranks; a rank does a second of work in a
 * second.
 *
 * <p>Work is counted as a full engine does it: what is the same in all steps is divided among as
 * many answers as its KV memory has room for. So an engine with few requests, whose steps serve
 * few, has the pressure of what it could do and not of how busy it is.
 *
 * @param prefill computing and loading the prompts of the last minute
 * @param decode what their answers add to steps
 * @param steps what steps take however many answers they serve; 0 where the engine's KV memory is
 *     not known
 * @param waiting all three of requests without a first token, over a minute, and at least as much
 *     as the oldest of them has waited
 */
public record FleetPressure(double prefill, double decode, double steps, double waiting) {
    private static final double WINDOW_MILLIS = ArrivingWork.WINDOW_NANOS / 1e6;

    /** How many of the present ranks' worth of work there is: 0 is idle. */
    public double value() {
        return prefill + decode + steps + waiting;
    }

    /**
     * Now. Looks at every rank and every request that waits: for those who ask now and then.
     *
     * @param candidates at least one
     * @throws IllegalArgumentException when there is none
     */
    public static FleetPressure of(
            List<Candidate> candidates, WorkerRates rates, LatencyPriors priors, LoadBook loads) {
        if (candidates.isEmpty()) {
            throw new IllegalArgumentException("no rank, so nothing to put the work over");
        }
        long now = rates.now();
        FleetRates fleet = rates.together(candidates, now);
        double prefill = 0;
        double decode = 0;
        double steps = 0;
        double waiting = 0;
        for (int i = 0; i < candidates.size(); i++) {
            Candidate c = candidates.get(i);
            SlotRates.Demand demand = rates.demand(c.slot(), now);
            RateState state = demand.state();
            Rank rank =
                    new Rank(
                            priors,
                            state.prefillFactor(fleet),
                            state.decodeFactor(fleet),
                            (double) c.worker().capacity().kvBlocks() * c.worker().blockSize(),
                            unshared(loads.load(c.slot()), state, c.worker().blockSize()));
            prefill += rank.promptMillis(demand.arrived());
            decode += rank.growthMillis(demand.arrived());
            steps += rank.stepMillis(demand.arrived());
            waiting += Math.max(rank.millis(demand.waiting()), waited(demand));
        }
        double minutes = candidates.size() * WINDOW_MILLIS;
        return new FleetPressure(
                prefill / minutes, decode / minutes, steps / minutes, waiting / minutes);
    }

    /**
     * Who has waited for so long had as much before it, whatever was predicted: less may be cached
     * than was thought when it was sent. Of a request that never gets its turn a minute.
     */
    private static double waited(SlotRates.Demand demand) {
        return Math.min(demand.oldestMillis(), WINDOW_MILLIS);
    }

    /** Of the running requests' prompts; all of them where blocks are not booked. */
    private static double unshared(WorkerLoad load, RateState state, int blockSize) {
        double tokens = load.blocks() * blockSize;
        return tokens > 0 && state.promptTokens() > tokens ? tokens / state.promptTokens() : 1;
    }

    /** {@code roomTokens}: 0: not known. */
    private record Rank(
            LatencyPriors priors,
            double prefillFactor,
            double decodeFactor,
            double roomTokens,
            double unshared) {
        double promptMillis(WorkSum work) {
            return work.promptMillis(prefillFactor);
        }

        double growthMillis(WorkSum work) {
            return work.growthMillis(decodeFactor);
        }

        double stepMillis(WorkSum work) {
            return roomTokens == 0
                    ? 0
                    : work.stepMillis(priors, decodeFactor, roomTokens, unshared);
        }

        double millis(WorkSum work) {
            return promptMillis(work) + growthMillis(work) + stepMillis(work);
        }
    }
}
