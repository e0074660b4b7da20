package io.warmpath.usage;

import java.util.Arrays;

/**
 * Sums of several numbers over steps of time, the newest so many of them. Steps begin at multiples
 * of their length. Not thread-safe.
 */
final class StepSums {
    private final int numbers;
    private final int steps;
    private final long stepMillis;
    private final long[] sums; // by step, then by number
    private long newest; // number of the newest step

    /**
     * @param numbers that are summed
     * @param steps that are kept, with the one that is running
     * @param now milliseconds of a clock
     */
    StepSums(int numbers, int steps, long stepMillis, long now) {
        this.numbers = numbers;
        this.steps = steps;
        this.stepMillis = stepMillis;
        this.sums = new long[steps * numbers];
        this.newest = Math.floorDiv(now, stepMillis);
    }

    /** A clock that went back counts into the newest step. */
    void add(long now, int number, long amount) {
        sums[place(step(now)) + number] += amount;
    }

    /** Of the step that runs now and of so many before it. */
    long sum(long now, int number, int before) {
        long sum = 0;
        for (int back = 0; back <= before; back++) {
            sum += at(now, number, back);
        }
        return sum;
    }

    /** {@code back}: 0: the step that runs now; less than the steps that are kept. */
    long at(long now, int number, int back) {
        return sums[place(step(now) - back) + number];
    }

    private int place(long step) {
        return Math.floorMod(step, steps) * numbers;
    }

    /** The step that runs now; those that have passed since the last call are empty. */
    private long step(long now) {
        long step = Math.floorDiv(now, stepMillis);
        if (step - newest >= steps) {
            Arrays.fill(sums, 0);
            newest = step;
        }
        while (newest < step) {
            newest++;
            int from = place(newest);
            Arrays.fill(sums, from, from + numbers, 0);
        }
        return newest;
    }
}
