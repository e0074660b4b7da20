package io.warmpath.gateway.selfcheck;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.fleet.probe.EngineTokenizer.Question;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Compares the length of each prompt with what its engine reports, and stops trusting the ids of
 * those that differ for good: their template or tokenizer is not the engine's. Per model, kind of
 * engine and {@link PromptForm}; the rule is {@link LengthRecord}'s. Losing trust is logged once as
 * a warning, with the place where prompts part if the engine can be asked; winning it back is
 * logged once. Any thread; nothing here blocks but what runs on the executor.
 */
public final class SelfCheck {
    private static final Logger LOG = Logger.getLogger(SelfCheck.class);

    /** An engine has better things to do than to tokenise for us. */
    private static final long ASK_NANOS = Duration.ofSeconds(10).toNanos();

    /** A request under way for longer makes room for another. */
    private static final long WAIT_NANOS = Duration.ofSeconds(30).toNanos();

    private final boolean on;
    private final EngineTokenizer engines;
    private final Executor asking;
    private final MeterRegistry registry;
    private final LongSupplier nanoTime;
    private final Map<Drift, Track> tracks = new ConcurrentHashMap<>();
    private final AtomicInteger distrusted = new AtomicInteger();
    private final AtomicLong mayAskAt;

    /**
     * @param engines asked where prompts part
     * @param asking runs what blocks
     * @param nanoTime as {@link System#nanoTime}
     */
    public SelfCheck(
            EngineTokenizer engines,
            Executor asking,
            MeterRegistry registry,
            LongSupplier nanoTime) {
        this(true, engines, asking, registry, nanoTime);
    }

    private SelfCheck(
            boolean on,
            EngineTokenizer engines,
            Executor asking,
            MeterRegistry registry,
            LongSupplier nanoTime) {
        this.on = on;
        this.engines = engines;
        this.asking = asking;
        this.registry = registry;
        this.nanoTime = nanoTime;
        this.mayAskAt = new AtomicLong(nanoTime.getAsLong());
    }

    /** Compares nothing and trusts everything. */
    public static SelfCheck off() {
        return new SelfCheck(
                false, EngineTokenizer.NONE, Runnable::run, new SimpleMeterRegistry(), () -> 0);
    }

    /** Engines whose caches this prompt's ids say nothing about; mostly none, at no cost. */
    public Set<EngineKind> distrusted(String model, PromptInput prompt) {
        if (distrusted.get() == 0) {
            return Set.of();
        }
        PromptForm form = PromptForm.of(prompt);
        Set<EngineKind> kinds = EnumSet.noneOf(EngineKind.class);
        if (form != null) {
            for (EngineKind kind : EngineKind.values()) {
                Track track = tracks.get(new Drift(model, kind, form));
                if (track != null && !track.record.trusted()) {
                    kinds.add(kind);
                }
            }
        }
        return kinds;
    }

    /** Models, with the forms of their prompts, that are distrusted on such engines; sorted. */
    public Set<String> distrusted(EngineKind kind) {
        Set<String> found = new TreeSet<>();
        tracks.forEach(
                (drift, track) -> {
                    if (drift.kind() == kind && !track.record.trusted()) {
                        found.add(drift.model() + ": " + drift.form().words());
                    }
                });
        return found;
    }

    /**
     * The prompt is sent to this worker.
     *
     * @param model as workers list it
     * @param length predicted, in tokens; 0: not known
     * @param ids predicted; called only when it is kept and their lengths differ, where it may
     *     block
     * @param question what its engine is to be asked; called only when it is kept
     * @return null when there is nothing to compare
     */
    public @Nullable Check sent(
            String model,
            Worker worker,
            PromptInput prompt,
            int length,
            Supplier<int[]> ids,
            Supplier<Question> question) {
        PromptForm form = PromptForm.of(prompt);
        if (!on || form == null || length == 0) {
            return null;
        }
        Track track = tracks.computeIfAbsent(new Drift(model, worker.kind(), form), this::newTrack);
        Witness kept = null;
        if (track.wantsWitness()) {
            long now = nanoTime.getAsLong();
            Witness before = track.waiting.get();
            if (before == null || now - before.sinceNanos() > WAIT_NANOS) {
                Witness mine = new Witness(worker, question.get(), ids, now);
                kept = track.waiting.compareAndSet(before, mine) ? mine : null;
            }
        }
        return new Check(track, length, kept);
    }

    /** One request sent to one worker, until that says how long the prompt was. */
    public final class Check {
        private final Track track;
        private final int predicted;
        final @Nullable Witness witness;

        private Check(Track track, int predicted, @Nullable Witness witness) {
            this.track = track;
            this.predicted = predicted;
            this.witness = witness;
        }

        /**
         * The answer is complete. Any thread; never blocks.
         *
         * @param promptTokens as the engine reported
         */
        public void answered(long promptTokens) {
            compared(track, predicted, promptTokens, witness);
        }
    }

    private Track newTrack(Drift drift) {
        return new Track(registry, drift);
    }

    private void compared(Track track, int predicted, long reported, @Nullable Witness witness) {
        boolean same = predicted == reported;
        if (witness != null) {
            track.waiting.compareAndSet(witness, null);
            if (!same) {
                track.proof.set(witness);
            }
        }
        switch (track.compared(!same)) {
            case LOST -> {
                distrusted.incrementAndGet();
                report(track, predicted, reported);
            }
            case WON -> {
                distrusted.decrementAndGet();
                track.owed = false;
                track.proof.set(null);
                LOG.infof(
                        "%s have the predicted length on %s again: cache hits count again",
                        name(track.drift), track.drift.kind());
            }
            case NONE -> {
                if (track.owed && witness != null && !same) {
                    tellLater(track);
                }
            }
        }
        if (track.record.differing() == 0) {
            track.proof.set(null);
        }
    }

    private void report(Track track, int predicted, long reported) {
        int differing = track.record.differing();
        Witness proof = track.proof.getAndSet(null);
        if (proof == null
                || !asks(() -> warn(track, differing, predicted, reported, where(proof)))) {
            track.owed = true;
            warn(
                    track,
                    differing,
                    predicted,
                    reported,
                    "where they part will be asked with a next one");
        }
    }

    private static void warn(
            Track track, int differing, int predicted, long reported, String where) {
        LOG.warnf(
                "%s have another length on %s than predicted, %d of the last %d; the last one %d"
                        + " tokens here, %d there; %s. The template or the tokenizer here is not"
                        + " the engine's: cache hits of such prompts are not counted on there until"
                        + " lengths agree again",
                name(track.drift),
                track.drift.kind(),
                differing,
                LengthRecord.LAST,
                predicted,
                reported,
                where);
    }

    private void tellLater(Track track) {
        Witness proof = track.proof.getAndSet(null);
        if (proof != null
                && asks(
                        () ->
                                LOG.infof(
                                        "%s on %s: %s",
                                        name(track.drift), track.drift.kind(), where(proof)))) {
            track.owed = false;
        }
    }

    private static String name(Drift drift) {
        return "Prompts of " + drift.model() + " (" + drift.form().words() + ")";
    }

    /**
     * @return false when it is too early to ask again, or too late
     */
    private boolean asks(Runnable question) {
        long now = nanoTime.getAsLong();
        long may = mayAskAt.get();
        if (now - may < 0 || !mayAskAt.compareAndSet(may, now + ASK_NANOS)) {
            return false;
        }
        try {
            asking.execute(question);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("closing", e);
            return false;
        }
    }

    /** Blocks. */
    private String where(Witness proof) {
        String worker = proof.worker().name();
        try {
            Optional<int[]> there = engines.tokens(proof.worker(), proof.question());
            if (there.isEmpty()) {
                return "its engine cannot be asked where they part";
            }
            int[] here = proof.ids().get();
            return Arrays.equals(here, there.get())
                    ? "/tokenize of " + worker + " agrees with the prediction, its chats do not"
                    : "asked of "
                            + worker
                            + ", "
                            + FirstDifference.of(here, there.get())
                                    .inBlocks(proof.worker().blockSize());
        } catch (IOException | RuntimeException e) {
            return "where they part is not known: " + worker + ": " + e.getMessage();
        }
    }
}
