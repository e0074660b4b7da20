package io.warmpath.hot;

import io.warmpath.prefix.PrefixQuery;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Prefixes that many prompts had lately, from a sample of prompts within bounds of time and bytes.
 *
 * <p>Four prompts a second are kept, and up to {@value #BURST} at once after a quiet time; each
 * stands for the requests since the one before it. So few requests are counted exactly, and many by
 * an estimate whose error falls with the root of the hits. {@link #standsFor} and {@link #add}: any
 * thread; the first is lock-free, the second holds a lock for a moment, for a prompt of the sample
 * only. {@link #hottest} sorts the sample: not for event loops.
 */
public final class HotPrefixes {
    /** After so long a hit counts half. */
    public static final Duration HALF_LIFE = Duration.ofMinutes(5);

    private static final long KEPT_NANOS = Duration.ofMinutes(30).toNanos();
    private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();
    private static final int BURST = 256;

    private final long maxBytes;
    private final LongSupplier nanoTime;
    private final AtomicLong full; // when the burst would be all there again
    private final LongAdder passedOver = new LongAdder();

    // Guarded by this.
    private final ArrayDeque<PromptSample> samples = new ArrayDeque<>();
    private long bytes;

    /**
     * @param maxBytes of all prompts that are kept
     * @param nanoTime as {@link System#nanoTime}
     */
    public HotPrefixes(long maxBytes, LongSupplier nanoTime) {
        this.maxBytes = maxBytes;
        this.nanoTime = nanoTime;
        this.full = new AtomicLong(nanoTime.getAsLong());
    }

    /**
     * Counts a request.
     *
     * @return for how many its prompt stands, when it is to be given to {@link #add}; 0: it is not
     */
    public long standsFor() {
        long now = nanoTime.getAsLong();
        long before = full.get();
        long from = before - now > 0 ? before : now;
        if (from - now >= BURST * INTERVAL_NANOS
                || !full.compareAndSet(before, from + INTERVAL_NANOS)) {
            passedOver.increment();
            return 0;
        }
        return 1 + passedOver.sumThenReset();
    }

    /**
     * Takes a prompt into the sample.
     *
     * @param prompt is copied
     * @param text its beginning; empty: it is not to be kept
     * @param standsFor as {@link #standsFor} said
     */
    public void add(String model, PrefixQuery prompt, String text, long standsFor) {
        if (prompt.blocks() == 0) {
            return;
        }
        long now = nanoTime.getAsLong();
        PromptSample sample = PromptSample.of(model, prompt, text, standsFor, now);
        synchronized (this) {
            samples.addLast(sample);
            bytes += sample.bytes();
            while (bytes > maxBytes || now - samples.getFirst().atNanos() > KEPT_NANOS) {
                bytes -= samples.removeFirst().bytes();
                if (samples.isEmpty()) {
                    break;
                }
            }
        }
    }

    private synchronized List<PromptSample> copy() {
        return new ArrayList<>(samples);
    }

    /** Bytes of the prompts that are kept. */
    public synchronized long bytes() {
        return bytes;
    }

    /**
     * Prefixes that two or more kept prompts have, those with the most hits first, of these the
     * longest. Where nearly all prompts go on alike behind one, the longer stands for it.
     */
    public List<HotPrefix> hottest(int limit, Predicate<String> model) {
        long now = nanoTime.getAsLong();
        Map<PromptSample.Group, List<PromptSample>> groups = new HashMap<>();
        for (PromptSample s : copy()) {
            if (now - s.atNanos() <= KEPT_NANOS && model.test(s.group().model())) {
                groups.computeIfAbsent(s.group(), g -> new ArrayList<>()).add(s);
            }
        }
        List<SharedRuns.Shared> all = new ArrayList<>();
        for (List<PromptSample> group : groups.values()) {
            group.sort(PromptSample::compareTo);
            all.addAll(SharedRuns.of(group, s -> worth(s, now), now));
        }
        all.sort(
                Comparator.comparingDouble(SharedRuns.Shared::hits)
                        .thenComparingInt(SharedRuns.Shared::blocks)
                        .reversed());
        return all.stream().limit(limit).map(SharedRuns.Shared::prefix).toList();
    }

    private static double worth(PromptSample s, long now) {
        return s.standsFor() * Math.pow(0.5, (double) (now - s.atNanos()) / HALF_LIFE.toNanos());
    }
}
