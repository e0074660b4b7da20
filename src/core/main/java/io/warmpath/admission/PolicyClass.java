package io.warmpath.admission;

import io.warmpath.fleet.Worker;
import io.warmpath.load.WorkerLoad;

/**
 * One queue and its share. Limits hold per worker of the model; {@link #NO_LIMIT} for none.
 *
 * @param family what a request asks for by name
 * @param bucket of the tokens to compute that requests fall into; empty: any
 * @param quantum tokens the class may start per round
 * @param threshold when a rank counts as full
 * @param requestLimit requests that may wait
 * @param rawTokenLimit prompt tokens that may wait
 * @param cachedTokenLimit cached prompt tokens that may wait
 */
public record PolicyClass(
        String name,
        String family,
        String bucket,
        QueuePolicy policy,
        long quantum,
        Threshold threshold,
        long requestLimit,
        long rawTokenLimit,
        long cachedTokenLimit) {
    public static final long NO_LIMIT = Long.MAX_VALUE;
    public static final long DEFAULT_QUANTUM = 8192;

    /** With 8, engines of {@code sim.virtual} have nearly the throughput that they have without. */
    private static final int AHEAD_PART = 8;

    /**
     * Booked prefill tokens above which a rank is full: absolute, or a fraction of what its engine
     * takes per step. {@code value}: {@link Double#POSITIVE_INFINITY} never.
     */
    public record Threshold(double value, boolean fraction) {
        public static final Threshold NEVER = new Threshold(Double.POSITIVE_INFINITY, false);

        /**
         * For those who are ahead of others: what they leave free is for who comes seldom, and
         * finds little before it in the engine.
         */
        Threshold whenAhead() {
            return new Threshold(value / AHEAD_PART, fraction);
        }

        public Threshold {
            if (!(value >= 0)) {
                throw new IllegalArgumentException("threshold " + value + " is not 0 or more");
            }
        }

        /**
         * Also when the running requests fill the rank's memory: another one would wait in the
         * engine, where nobody's turn counts.
         */
        boolean exceeded(WorkerLoad load, Worker worker, int defaultBatch) {
            if (value == Double.POSITIVE_INFINITY) {
                return false;
            }
            long kvBlocks = worker.capacity().kvBlocks();
            if (kvBlocks > 0 && load.blocks() > kvBlocks) {
                return true;
            }
            int batchedTokens = worker.capacity().batchedTokens();
            double limit =
                    fraction ? value * (batchedTokens > 0 ? batchedTokens : defaultBatch) : value;
            return load.prefillTokens() > limit;
        }
    }

    public PolicyClass {
        if (name.isEmpty() || family.isEmpty()) {
            throw new IllegalArgumentException("a policy class needs a name and a family");
        }
        if (quantum < 1 || requestLimit < 0 || rawTokenLimit < 0 || cachedTokenLimit < 0) {
            throw new IllegalArgumentException(
                    "policy class " + name + ": quantum must be 1 or more, limits 0 or more");
        }
    }

    /** One queue for everybody, without limits but that of waiting requests. */
    public static PolicyClass single(QueuePolicy policy, double threshold, long requestLimit) {
        return new PolicyClass(
                "default",
                "default",
                "",
                policy,
                DEFAULT_QUANTUM,
                new Threshold(threshold, true),
                requestLimit,
                NO_LIMIT,
                NO_LIMIT);
    }

    boolean takes(String wantedFamily, String wantedBucket) {
        return family.equals(wantedFamily) && (bucket.isEmpty() || bucket.equals(wantedBucket));
    }

    /** {@code limit} per worker, all workers together. */
    static long times(long limit, int workers) {
        return limit > Long.MAX_VALUE / Math.max(1, workers) ? NO_LIMIT : limit * workers;
    }
}
