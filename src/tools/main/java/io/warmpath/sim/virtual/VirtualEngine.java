package io.warmpath.sim.virtual;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * One engine: a loop of steps, in each of which every running sequence decodes one token, and what
 * is left of the batch goes to prompts in the order of their arrival. One thread.
 *
 * <p>A request is admitted when prompt and answer find room and something of the batch is left.
 * Blocks can be used by others at the end of the step that filled them; an answer's blocks at its
 * end. A prompt that another engine has computed takes its room first, comes then, and its answer
 * goes on with the next step. Steps that only decode are played as one event, ended early at the
 * edge of a step when a request comes. {@link EngineModel} says what a step takes.
 */
public final class VirtualEngine<J extends Job> implements Runnable {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final long RETRY_NANOS = 5_000_000;

    private final VirtualTime time;
    private final EngineModel model;
    private final boolean cacheIsShared;
    private final EngineMemory<J> memory;
    private final EngineWatcher<J> watcher;
    private double speed;
    private final Deque<J> waiting = new ArrayDeque<>();
    private final List<J> prefilling = new ArrayList<>();
    private final PriorityQueue<J> decoding =
            new PriorityQueue<>(Comparator.comparingLong(j -> j.endStep));

    /** What has come from other engines, for the next step. */
    private final List<J> arrived = new ArrayList<>();

    /** What is on its way from other engines. */
    private int arriving;

    /** Steps that decoded, so far. */
    private long steps;

    /** Tokens of all decoding sequences. */
    private long heldTokens;

    private double waitingMillis;

    // The step, or the run of decoding steps, under way.
    private boolean busy;
    private boolean finishing;
    private long startNanos;
    private long dueNanos;
    private long runSteps;
    private long frozenUntilNanos;

    /**
     * @param cache this engine's own, or one that several share
     * @param hostBlocks room in host memory; 0: there is none
     * @param pool what it shares with others, behind that; null: nothing
     */
    public VirtualEngine(
            VirtualTime time,
            EngineModel model,
            int blockTokens,
            double speed,
            BlockCache cache,
            boolean cacheIsShared,
            int hostBlocks,
            @Nullable BlockStore pool,
            EngineWatcher<J> watcher) {
        this.time = time;
        this.model = model;
        this.speed = speed;
        this.cacheIsShared = cacheIsShared;
        this.memory = new EngineMemory<>(blockTokens, cache, hostBlocks, pool, watcher);
        this.watcher = watcher;
    }

    /** Throws {@link IllegalArgumentException} when it can never find room. */
    public void submit(J job) {
        memory.require(job);
        if (cacheIsShared) {
            int cached = memory.cachedTokens(job);
            job.estimateMillis = model.chunkMillis((double) job.promptTokens - cached, cached);
            waitingMillis += job.estimateMillis;
        }
        waiting.add(job);
        if (finishing) {
            return; // the next step is about to begin
        }
        if (!busy) {
            begin();
        } else if (prefilling.isEmpty() && waiting.size() == 1) {
            endRunEarly();
        }
    }

    /** Nothing moves until this moment. */
    public void freezeUntil(long nanos) {
        frozenUntilNanos = nanos;
    }

    /** From the next step on. */
    public void setSpeed(double other) {
        speed = other;
    }

    /** Requests that have not been admitted. */
    public int waiting() {
        return waiting.size();
    }

    public int running() {
        return prefilling.size() + decoding.size() + arriving + arrived.size();
    }

    /** Share of the device memory that running requests have taken. */
    public double memoryUse() {
        return (double) memory.cache().referenced() / memory.cache().capacity();
    }

    /**
     * Prefill that is still to be done, for engines that share a cache: as submitted of those that
     * wait, exact of the others.
     */
    public double prefillMillis() {
        double sum = waitingMillis;
        for (int i = 0; i < prefilling.size(); i++) {
            J job = prefilling.get(i);
            sum += model.chunkMillis((double) job.promptTokens - job.done, job.done);
        }
        return sum;
    }

    public BlockCache cache() {
        return memory.cache();
    }

    /** A step ends. */
    @Override
    public void run() {
        if (!busy || time.nanos() != dueNanos) {
            return; // an end that was moved
        }
        if (dueNanos < frozenUntilNanos) {
            dueNanos = frozenUntilNanos;
            time.at(dueNanos, this);
            return;
        }
        busy = false;
        finishing = true;
        finishStep();
        finishing = false;
        begin();
    }

    private void begin() {
        join();
        admit();
        if (prefilling.isEmpty() && decoding.isEmpty()) {
            if (!waiting.isEmpty() && cacheIsShared) {
                time.after(RETRY_NANOS, this::retry);
            }
            return;
        }
        busy = true;
        startNanos = time.nanos();
        runSteps = prefilling.isEmpty() ? decoding.element().endStep - steps : 1;
        double millis = prefilling.isEmpty() ? runMillis(runSteps) : mixedMillis();
        due(millis);
    }

    private void retry() {
        if (!busy) {
            begin();
        }
    }

    private void due(double millis) {
        dueNanos = startNanos + Math.max(1, (long) (millis * NANOS_PER_MILLI / speed));
        time.at(dueNanos, this);
    }

    /** This many steps that only decode. */
    private double runMillis(long k) {
        double first =
                model.stepMillis()
                        + model.weightsMillis()
                        + model.decodeMillis(decoding.size(), (double) heldTokens);
        double growth = model.millisPerHeldToken() * decoding.size();
        return k * first + growth * ((double) k * (k - 1) / 2);
    }

    private void endRunEarly() {
        double passed = (time.nanos() - startNanos) / NANOS_PER_MILLI * speed;
        long low = 1;
        long high = runSteps;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (runMillis(middle) >= passed) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (low < runSteps) {
            runSteps = low;
            due(runMillis(low));
        }
    }

    /** Divides the batch among the prompts; answers what the step takes. */
    private double mixedMillis() {
        int budget = model.batchTokens() - decoding.size();
        double chunks = 0;
        double loading = 0;
        for (int i = 0; i < prefilling.size(); i++) {
            J job = prefilling.get(i);
            job.chunk = Math.max(0, Math.min(budget, job.promptTokens - job.done));
            budget -= job.chunk;
            if (job.chunk > 0) {
                chunks += model.chunkMillis(job.chunk, job.done);
                loading +=
                        job.loadTokens * 1000 / model.hostTokensPerSecond()
                                + job.fetchTokens * 1000 / model.poolTokensPerSecond();
            }
        }
        return model.stepMillis()
                + Math.max(model.weightsMillis(), Math.max(chunks, loading))
                + model.decodeMillis(decoding.size(), (double) heldTokens);
    }

    /**
     * As long as something of the batch is left: who has to wait for it may find more in the cache
     * by then, such as what the one before it computes.
     */
    private void admit() {
        if (waiting.isEmpty()) {
            return;
        }
        int budget = model.batchTokens() - decoding.size();
        for (int i = 0; i < prefilling.size() && budget > 0; i++) {
            budget -= prefilling.get(i).promptTokens - prefilling.get(i).done;
        }
        while (!waiting.isEmpty() && budget > 0 && running() < model.sequences()) {
            J job = waiting.element();
            if (!memory.admit(job)) {
                return;
            }
            waiting.remove();
            waitingMillis = waiting.isEmpty() ? 0 : waitingMillis - job.estimateMillis;
            Job.Arrival arrival = job.arrival;
            if (arrival != null) {
                arriving++;
                time.at(arrival.at(job.promptTokens - job.done), () -> arrived(job));
                continue;
            }
            prefilling.add(job);
            budget -= job.promptTokens - job.done;
        }
    }

    private void finishStep() {
        steps += runSteps;
        heldTokens += runSteps * decoding.size();
        int kept = 0;
        List<J> first = null;
        for (int i = 0; i < prefilling.size(); i++) {
            J job = prefilling.get(i);
            if (job.chunk > 0) {
                job.done += job.chunk;
                job.loadTokens = 0;
                job.fetchTokens = 0;
                memory.fill(job, job.done);
            }
            if (job.done < job.promptTokens) {
                prefilling.set(kept++, job);
            } else {
                first = first == null ? new ArrayList<>(4) : first;
                first.add(job);
            }
        }
        prefilling.subList(kept, prefilling.size()).clear();
        while (!decoding.isEmpty() && decoding.element().endStep <= steps) {
            J job = decoding.remove();
            heldTokens -= (long) job.promptTokens + job.answerTokens;
            end(job);
        }
        for (int i = 0; first != null && i < first.size(); i++) {
            answer(first.get(i));
        }
    }

    private void answer(J job) {
        watcher.firstToken(job);
        if (job.answerTokens == 1) {
            end(job);
        } else {
            job.endStep = steps + job.answerTokens - 1;
            heldTokens += job.promptTokens + 1L;
            decoding.add(job);
        }
    }

    private void arrived(J job) {
        arriving--;
        job.done = job.promptTokens;
        memory.fill(job, job.done);
        arrived.add(job);
        if (finishing) {
            return;
        }
        if (!busy) {
            begin();
        } else if (prefilling.isEmpty()) {
            endRunEarly();
        }
    }

    /** Their first tokens have come with them. */
    private void join() {
        finishing = true;
        for (int i = 0; i < arrived.size(); i++) {
            answer(arrived.get(i));
        }
        finishing = false;
        arrived.clear();
    }

    private void end(J job) {
        memory.end(job);
        watcher.ended(job);
    }
}
