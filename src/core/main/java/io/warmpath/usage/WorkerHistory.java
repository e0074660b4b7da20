package io.warmpath.usage;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How one worker did, in steps of {@link #STEP_SECONDS} over {@link #STEPS} steps and the one that
 * runs. Any thread; 11 kB.
 */
public final class WorkerHistory {
    public static final int STEP_SECONDS = 10;

    /** A quarter of an hour. */
    public static final int STEPS = 90;

    private static final long STEP_MILLIS = 1_000L * STEP_SECONDS;

    /** Five minutes: as many steps before the one that runs. */
    private static final int RECENT_STEPS = 30;

    /** One minute. */
    private static final int RATE_STEPS = 6;

    private static final double MICROS_PER_MILLI = 1e3;

    /** What is summed up, by number. */
    private static final class Sum {
        static final int REQUESTS = 0;
        static final int FAILED = 1;

        /** Requests with a first token. */
        static final int STARTED = 2;

        static final int FIRST_TOKEN_MICROS = 3;

        /** Of requests whose engine reports cached tokens, as the next. */
        static final int PROMPT_TOKENS = 4;

        static final int CACHED_TOKENS = 5;

        /** Of requests that are compared, as the four below. */
        static final int PREDICTED_TOKENS = 6;

        static final int REPORTED_TOKENS = 7;
        static final int EQUAL = 8;
        static final int OVER = 9;
        static final int UNDER = 10;

        static final int SAMPLES = 11;
        static final int PREFILL_TOKENS = 12;
        static final int KV_BLOCKS = 13;

        private static final int COUNT = 14;

        private Sum() {}
    }

    /**
     * The last five minutes. What is not known is null.
     *
     * @param hitRate cached part of the prompt tokens, where engines report it
     * @param firstTokenMillis mean time to the first token
     * @param equal requests of which the engine found as much cached as was predicted
     * @param over requests of which less was cached than was predicted
     */
    public record Recent(
            long requests,
            long failed,
            @Nullable Double hitRate,
            @Nullable Double firstTokenMillis,
            long equal,
            long over,
            long under) {}

    /**
     * Whole steps, the oldest first.
     *
     * @param firstTokenMillis null where there was none, as {@code hitRate}
     * @param prefillTokens booked, a mean
     * @param kvBlocks booked for decoding, a mean
     * @param predictedTokens cached tokens of the requests that are compared with what engines
     *     report
     */
    public record Series(
            List<Long> requests,
            List<@Nullable Double> firstTokenMillis,
            List<@Nullable Double> hitRate,
            List<Long> prefillTokens,
            List<Long> kvBlocks,
            List<Long> predictedTokens,
            List<Long> reportedTokens) {}

    private final StepSums sums; // guarded by this
    private final long beganMillis;

    /** {@code now}: milliseconds since 1970, as everywhere here. */
    WorkerHistory(long now) {
        beganMillis = now;
        sums = new StepSums(Sum.COUNT, STEPS + 1, STEP_MILLIS, now);
    }

    synchronized void tried(WorkerTry end, long now) {
        add(now, Sum.REQUESTS, 1);
        if (end.failed()) {
            add(now, Sum.FAILED, 1);
        }
        if (end.firstTokenNanos() >= 0) {
            add(now, Sum.STARTED, 1);
            add(now, Sum.FIRST_TOKEN_MICROS, end.firstTokenNanos() / 1_000);
        }
        long cached = end.cachedTokens();
        if (cached < 0) {
            return;
        }
        if (end.promptTokens() >= 0) {
            add(now, Sum.PROMPT_TOKENS, end.promptTokens());
            add(now, Sum.CACHED_TOKENS, cached);
        }
        long predicted = end.predictedTokens();
        if (predicted >= 0) {
            add(now, Sum.PREDICTED_TOKENS, predicted);
            add(now, Sum.REPORTED_TOKENS, cached);
            add(
                    now,
                    predicted == cached ? Sum.EQUAL : predicted > cached ? Sum.OVER : Sum.UNDER,
                    1);
        }
    }

    /** What is booked there at this moment. */
    synchronized void sample(long prefillTokens, double kvBlocks, long now) {
        add(now, Sum.SAMPLES, 1);
        add(now, Sum.PREFILL_TOKENS, prefillTokens);
        add(now, Sum.KV_BLOCKS, Math.round(kvBlocks));
    }

    private void add(long now, int number, long amount) {
        sums.add(now, number, amount);
    }

    synchronized Recent recent(long now) {
        return new Recent(
                recent(now, Sum.REQUESTS),
                recent(now, Sum.FAILED),
                part(recent(now, Sum.CACHED_TOKENS), recent(now, Sum.PROMPT_TOKENS)),
                millis(recent(now, Sum.FIRST_TOKEN_MICROS), recent(now, Sum.STARTED)),
                recent(now, Sum.EQUAL),
                recent(now, Sum.OVER),
                recent(now, Sum.UNDER));
    }

    private long recent(long now, int number) {
        return sums.sum(now, number, RECENT_STEPS);
    }

    /** Over the whole steps of the last minute, or since the beginning. */
    synchronized double requestsPerSecond(long now) {
        long passed = Math.floorDiv(now, STEP_MILLIS) - Math.floorDiv(beganMillis, STEP_MILLIS);
        int steps = Math.clamp(passed, 1, RATE_STEPS);
        long requests = 0;
        for (int back = 1; back <= steps; back++) {
            requests += at(now, Sum.REQUESTS, back);
        }
        return (double) requests / (steps * STEP_SECONDS);
    }

    synchronized Series series(long now) {
        return new Series(
                each(back -> at(now, Sum.REQUESTS, back)),
                each(
                        back ->
                                millis(
                                        at(now, Sum.FIRST_TOKEN_MICROS, back),
                                        at(now, Sum.STARTED, back))),
                each(
                        back ->
                                part(
                                        at(now, Sum.CACHED_TOKENS, back),
                                        at(now, Sum.PROMPT_TOKENS, back))),
                each(back -> mean(now, Sum.PREFILL_TOKENS, back)),
                each(back -> mean(now, Sum.KV_BLOCKS, back)),
                each(back -> at(now, Sum.PREDICTED_TOKENS, back)),
                each(back -> at(now, Sum.REPORTED_TOKENS, back)));
    }

    /** Of each step that is over, the oldest first. */
    private static <T extends @Nullable Object> List<T> each(IntFunction<T> value) {
        List<T> all = new ArrayList<>(STEPS);
        for (int back = STEPS; back > 0; back--) {
            all.add(value.apply(back));
        }
        return all;
    }

    private long mean(long now, int number, int back) {
        return at(now, number, back) / Math.max(1, at(now, Sum.SAMPLES, back));
    }

    private long at(long now, int number, int back) {
        return sums.at(now, number, back);
    }

    /** To a tenth of a millisecond. */
    private static @Nullable Double millis(long micros, long count) {
        return count == 0 ? null : Math.round(10 * micros / MICROS_PER_MILLI / count) / 10.0;
    }

    /** To a hundredth of a percent. */
    private static @Nullable Double part(long of, long whole) {
        return whole == 0 ? null : Math.round(1e4 * of / whole) / 1e4;
    }
}
