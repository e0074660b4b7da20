package io.warmpath.gateway.flow;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * How much may be asked of engines a second time, over all requests: retries, and hedges (the same
 * request to a second worker because the first one is late). Any thread.
 */
public final class Retries {
    private final Options options;
    private final boolean again;
    private final RetryBudget retries;
    private final RetryBudget hedges;
    private final Map<String, FirstTokenTimes> times = new ConcurrentHashMap<>();

    /**
     * @param maxWorkers that may have begun with one request
     * @param budget retries per request, of all of the last ten seconds
     * @param budgetPerSecond retries that are allowed without that
     * @param hedgePercentile of the times to the first token after which a request is hedged; 0:
     *     none is
     * @param hedgeFraction hedges per request, of all of the last ten seconds
     */
    public record Options(
            int maxWorkers,
            double budget,
            int budgetPerSecond,
            double hedgePercentile,
            double hedgeFraction) {
        public static final Options DEFAULTS = new Options(2, 0.2, 10, 0, 0.05);

        public Options {
            if (maxWorkers < 1 || !(hedgePercentile >= 0 && hedgePercentile < 100)) {
                throw new IllegalArgumentException(
                        maxWorkers + " workers, percentile " + hedgePercentile);
            }
        }
    }

    public Retries(Options options, LongSupplier nanoTime) {
        this(options, true, nanoTime);
    }

    private Retries(Options options, boolean again, LongSupplier nanoTime) {
        this.options = options;
        this.again = again;
        this.retries = new RetryBudget(options.budget(), options.budgetPerSecond(), nanoTime);
        this.hedges = new RetryBudget(options.hedgeFraction(), 0, nanoTime);
    }

    /** Each request is sent once, whatever becomes of it. */
    static Retries none(LongSupplier nanoTime) {
        return new Retries(new Options(1, 0, 0, 0, 0), false, nanoTime);
    }

    /** Requests may be sent more than once. */
    boolean again() {
        return again;
    }

    int maxWorkers() {
        return options.maxWorkers();
    }

    /** A request has come. */
    void request() {
        retries.request();
        if (hedging()) {
            hedges.request();
        }
    }

    /** One more may be made, and is. */
    boolean mayRetry() {
        return retries.take();
    }

    /** What follows when a worker has failed a request of which its client has seen nothing. */
    enum Verdict {
        /** Another worker may be asked. */
        ELSEWHERE,
        /** The request is bound to its worker, or too many have been asked already. */
        NO_OTHER,
        /** There were too many retries lately. */
        NO_BUDGET
    }

    /**
     * A worker has failed one request.
     *
     * @param request notes the failure
     * @param begun the worker may have begun with it; one that could not be reached, or whose queue
     *     was full, has not: nothing is done twice then, and no budget is used
     * @param pinned the client has named the worker
     */
    Verdict failed(RetryState request, long worker, boolean begun, boolean pinned) {
        request.failed(worker);
        if (begun) {
            request.hasBegun(worker);
        }
        if (!again || !request.mayAskAnother() || pinned) {
            return Verdict.NO_OTHER;
        }
        return !begun || mayRetry() ? Verdict.ELSEWHERE : Verdict.NO_BUDGET;
    }

    boolean hedging() {
        return options.hedgePercentile() > 0;
    }

    /** One more may be made, and is. */
    boolean mayHedge() {
        return hedges.take();
    }

    /** A stream of this model has its first token so long after it was sent. */
    void firstToken(String model, long nanos) {
        if (hedging()) {
            times.computeIfAbsent(model, m -> new FirstTokenTimes()).add(nanos);
        }
    }

    /** How long the first token may take until another worker is asked; -1: for ever. */
    long hedgeNanos(String model) {
        FirstTokenTimes known = hedging() ? times.get(model) : null;
        return known == null ? -1 : known.at(options.hedgePercentile());
    }
}
