package io.warmpath.gateway.prompt;

import io.vertx.core.Context;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.fleet.probe.EngineTokenizer.Question;
import io.warmpath.gateway.observe.Dependency;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.FlowMetrics.EngineAnswer;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Token ids that engines make themselves, of models without usable files here, and of those that
 * are set up so, whose prompts an engine makes by code.
 *
 * <p>One worker of each kind is asked, its answer is taken for all of the kind. Tokens are advice:
 * an engine that does not answer in time, or too many questions at once, give none. A worker that
 * fails is left alone for a while, twice as long each time; one that has no tokenizer to ask, for
 * the longest while at once. Any thread; answers come on the request's event loop.
 */
public final class EngineIds {
    private static final Logger LOG = Logger.getLogger(EngineIds.class);

    /** Bodies above this would cost the engine more than a warm cache saves. */
    private static final int MAX_BODY_BYTES = 8 << 20;

    private static final long FIRST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LAST_PAUSE_NANOS = Duration.ofSeconds(64).toNanos();

    /** For a gateway that asks no engine. */
    public static final EngineIds OFF =
            new EngineIds(
                    model -> false,
                    EngineTokenizer.NONE,
                    Runnable::run,
                    1,
                    Duration.ofSeconds(1),
                    () -> 0);

    private record Pause(long untilNanos, long lengthNanos) {}

    private final Predicate<String> models;
    private final EngineTokenizer engines;
    private final Executor threads;
    private final Semaphore running;
    private final Duration deadline;
    private final LongSupplier nanoTime;
    private final Map<Long, Pause> paused = new ConcurrentHashMap<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Dependency health =
            new Dependency(
                    LOG,
                    "Asking engines for token ids",
                    "their prompts are known by their texts alone");
    private final Set<Long> saidAbsent = ConcurrentHashMap.newKeySet();

    /**
     * @param models whose prompts engines are asked about, by the names that workers list
     * @param threads run what blocks
     * @param atOnce questions that may run at the same time
     * @param deadline an answer that takes longer is not waited for
     * @param nanoTime as {@link System#nanoTime}
     */
    public EngineIds(
            Predicate<String> models,
            EngineTokenizer engines,
            Executor threads,
            int atOnce,
            Duration deadline,
            LongSupplier nanoTime) {
        this.models = models;
        this.engines = engines;
        this.threads = threads;
        this.running = new Semaphore(atOnce);
        this.deadline = deadline;
        this.nanoTime = nanoTime;
    }

    /** Prompts of this model may be asked for. */
    boolean asks(InferenceRequest request) {
        return !request.passThrough()
                && request.body().length() <= MAX_BODY_BYTES
                && !(request.prompt() instanceof PromptInput.Opaque)
                && !(request.prompt() instanceof PromptInput.Ids)
                && !(request.prompt() instanceof PromptInput.Several)
                && models.test(request.model());
    }

    /**
     * Adds what is missing. On the request's event loop, where {@code next} runs exactly once.
     *
     * @param known by the files here, maybe {@link EnginePrompts#UNKNOWN}
     * @param next gets null when nothing is known at the end
     */
    void complete(
            Context context,
            InferenceRequest request,
            List<Candidate> candidates,
            EnginePrompts known,
            FlowMetrics metrics,
            Consumer<@Nullable EnginePrompts> next) {
        Map<EngineKind, Worker> missing = new EnumMap<>(EngineKind.class);
        int from = turn.getAndIncrement() & Integer.MAX_VALUE;
        for (int i = 0; i < candidates.size(); i++) {
            Worker worker = candidates.get((from + i) % candidates.size()).worker();
            EngineKind kind = worker.kind();
            if (!kind.isPlain()
                    && known.of(kind).length() == 0
                    && !missing.containsKey(kind)
                    && !isPaused(worker)) {
                missing.put(kind, worker);
            }
        }
        if (missing.isEmpty()) {
            next.accept(known.length() == 0 ? null : known);
            return;
        }
        new Asking(context, candidates, known, metrics, next).start(request, missing);
    }

    /** This worker has said that it has no tokenizer to ask. */
    public boolean isAbsent(Worker worker) {
        return saidAbsent.contains(worker.id());
    }

    private boolean isPaused(Worker worker) {
        Pause pause = paused.get(worker.id());
        return pause != null && nanoTime.getAsLong() - pause.untilNanos() < 0;
    }

    /** Blocks; never throws. */
    private EngineAnswer ask(Worker worker, Question question, Consumer<int[]> got) {
        try {
            Optional<int[]> ids = engines.tokens(worker, question);
            paused.remove(worker.id());
            saidAbsent.remove(worker.id());
            health.worked();
            ids.ifPresent(got);
            return ids.isPresent() ? EngineAnswer.ANSWERED : EngineAnswer.REFUSED;
        } catch (EngineTokenizer.Absent e) {
            paused.put(
                    worker.id(),
                    new Pause(nanoTime.getAsLong() + LAST_PAUSE_NANOS, LAST_PAUSE_NANOS));
            if (saidAbsent.add(worker.id())) {
                LOG.infof(
                        "Worker %s cannot tell token ids (%s): prompts without a tokenizer here"
                                + " are known by their texts alone",
                        worker.name(), e.getMessage());
            }
            return EngineAnswer.ABSENT;
        } catch (IOException | RuntimeException e) {
            paused.compute(worker.id(), (id, before) -> longer(before));
            health.failed(e);
            return EngineAnswer.FAILED;
        }
    }

    private Pause longer(@Nullable Pause before) {
        long length =
                before == null
                        ? FIRST_PAUSE_NANOS
                        : Math.min(LAST_PAUSE_NANOS, 2 * before.lengthNanos());
        return new Pause(nanoTime.getAsLong() + length, length);
    }

    /** One prompt's questions. On its event loop. */
    private final class Asking {
        private final Context context;
        private final FlowMetrics metrics;
        private final Consumer<@Nullable EnginePrompts> next;
        private final Map<EngineProfile, PromptContent> lists = new EnumMap<>(EngineProfile.class);
        private int open;
        private boolean done;
        private long timer = -1;

        Asking(
                Context context,
                List<Candidate> candidates,
                EnginePrompts known,
                FlowMetrics metrics,
                Consumer<@Nullable EnginePrompts> next) {
            this.context = context;
            this.metrics = metrics;
            this.next = next;
            for (int i = 0; i < candidates.size(); i++) {
                EngineKind kind = candidates.get(i).worker().kind();
                lists.put(Engines.of(kind), known.of(kind));
            }
        }

        void start(InferenceRequest request, Map<EngineKind, Worker> workers) {
            open = workers.size() + 1; // one for this method
            workers.forEach((kind, worker) -> begin(request, kind, worker));
            ended();
            if (!done) {
                timer = context.owner().setTimer(Math.max(1, deadline.toMillis()), t -> late());
            }
        }

        private void begin(InferenceRequest request, EngineKind kind, Worker worker) {
            if (!running.tryAcquire()) {
                metrics.askedEngine(EngineAnswer.BUSY);
                open--;
                return;
            }
            try {
                threads.execute(
                        () -> {
                            EngineAnswer answer;
                            int[][] ids = {PromptContent.NO_IDS};
                            try {
                                Question question =
                                        new Question(
                                                request.name().on(kind),
                                                request.body().getBytes(),
                                                request.headers().get("authorization"));
                                answer = ask(worker, question, got -> ids[0] = got);
                            } finally {
                                running.release();
                            }
                            metrics.askedEngine(answer);
                            context.runOnContext(v -> answered(kind, ids[0]));
                        });
            } catch (RejectedExecutionException e) {
                running.release();
                metrics.askedEngine(EngineAnswer.BUSY);
                open--;
            }
        }

        private void answered(EngineKind kind, int[] ids) {
            if (ids.length > 0) {
                lists.put(Engines.of(kind), PromptContent.of(ids));
            }
            ended();
        }

        private void ended() {
            if (--open == 0 && !done) {
                done = true;
                context.owner().cancelTimer(timer);
                next.accept(ids());
            }
        }

        private void late() {
            if (!done) {
                done = true;
                metrics.askedEngine(EngineAnswer.LATE);
                next.accept(ids());
            }
        }

        private @Nullable EnginePrompts ids() {
            boolean any = lists.values().stream().anyMatch(list -> list.length() > 0);
            return any ? EnginePrompts.of(lists).asked() : null;
        }
    }
}
