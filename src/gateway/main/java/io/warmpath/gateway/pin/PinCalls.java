package io.warmpath.gateway.pin;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.probe.PinSupports;
import io.warmpath.gateway.pin.PinMetrics.Result;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.prefix.MediaIds;
import io.warmpath.session.SessionKey;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Asks workers to keep prefixes: some at once, the others in a line of bounded length for each
 * worker, so that one that hangs holds up no other. What failed for a reason that passes is tried
 * again, later and later. All on one event loop of its own; {@link #ask} any thread.
 */
public final class PinCalls implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(PinCalls.class);

    /** Questions to one worker at once. */
    private static final int AT_ONCE = 4;

    private static final long FIRST_DELAY_MILLIS = 1_000;
    private static final long LONGEST_DELAY_MILLIS = 30_000;

    /**
     * What a request has left to be done.
     *
     * @param to the rank that has served it
     * @param model as that worker calls it
     * @param chain names of its complete blocks; empty when they are not known
     * @param tokens of the prompt
     * @param ids of the prompt; may block
     * @param authorization the client's; null: none
     */
    public record Wish(
            Candidate to,
            SessionKey.Scope scope,
            String model,
            long[] chain,
            int tokens,
            PinSupport how,
            int ttlSeconds,
            Supplier<int[]> ids,
            @Nullable String authorization,
            String requestId) {}

    private static final class Job {
        final Pins pins;
        final Wish wish;
        final long pin;
        final long deadline;
        int[] ids = PromptContent.NO_IDS;
        int tries;

        Job(Pins pins, Wish wish, long pin) {
            this.pins = pins;
            this.wish = wish;
            this.pin = pin;
            this.deadline = System.nanoTime() + wish.ttlSeconds * 1_000_000_000L;
        }
    }

    /** One worker's line. */
    private static final class Line {
        private final Deque<Job> waiting = new ArrayDeque<>();
        private int running;
        private int open; // running, waiting, or to be tried again
    }

    private final Vertx vertx;
    private final Context context;
    private final EngineClient engines;
    private final TokenLanes lanes;
    private final Fleet fleet;
    private final PinSupports supports;
    private final KeepAlives keepAlives;
    private final Map<Long, Line> lines = new HashMap<>();
    private boolean closed;

    /** {@code lanes}: on which ids are made. */
    public PinCalls(
            Vertx vertx,
            EngineClient engines,
            TokenLanes lanes,
            Fleet fleet,
            PinSupports supports,
            KeepAlives keepAlives) {
        this.vertx = vertx;
        this.context = keepAlives.context();
        this.engines = engines;
        this.lanes = lanes;
        this.fleet = fleet;
        this.supports = supports;
        this.keepAlives = keepAlives;
    }

    boolean keepsAlive() {
        return keepAlives.on();
    }

    void ask(Pins pins, Wish wish, long pin) {
        context.runOnContext(v -> admit(new Job(pins, wish, pin)));
    }

    /** It is held; its prompt may be unknown since a restart. */
    void keepAgain(Wish wish, long pin) {
        context.runOnContext(
                v -> {
                    if (closed || keepAlives.has(pin)) {
                        return;
                    }
                    try {
                        lanes.lengthy(
                                () -> {
                                    int[] ids = ids(wish);
                                    if (ids.length > 0) {
                                        context.runOnContext(
                                                k -> keepAlives.keep(pin, ids, wish.authorization));
                                    }
                                });
                    } catch (RejectedExecutionException e) {
                        LOG.debugf("%s: not kept fresh yet", wish.requestId);
                    }
                });
    }

    private void admit(Job job) {
        Line line = lines.computeIfAbsent(worker(job), w -> new Line());
        if (closed || line.open >= job.pins.options.queueSize()) {
            if (line.open == 0) {
                lines.remove(worker(job));
            }
            job.pins.denied(job.wish, job.pin, Result.QUEUE_FULL, "too many wait for this worker");
            return;
        }
        line.open++;
        try {
            lanes.lengthy(() -> makeIds(job));
        } catch (RejectedExecutionException e) {
            end(job, Result.QUEUE_FULL, "the tokenizer has too much to do");
        }
    }

    private static int[] ids(Wish wish) {
        try {
            return MediaIds.before(wish.ids.get());
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: its ids cannot be made", wish.requestId);
            return PromptContent.NO_IDS;
        }
    }

    /** On a token thread. */
    private void makeIds(Job job) {
        int[] made = ids(job.wish);
        context.runOnContext(
                v -> {
                    job.ids = made;
                    if (made.length == 0) {
                        end(job, Result.UNKNOWN, "its tokens are not known");
                    } else if (job.wish.how == PinSupport.KEEP_ALIVE) {
                        keepAlives.keep(job.pin, made, job.wish.authorization);
                        granted(job, 0, "");
                    } else {
                        queue(job);
                    }
                });
    }

    private void queue(Job job) {
        Line line = lines.get(worker(job));
        if (line != null) {
            line.waiting.add(job);
            next(line);
        }
    }

    private void next(Line line) {
        while (line.running < AT_ONCE && !line.waiting.isEmpty()) {
            Job job = line.waiting.remove();
            job.tries++;
            boolean costs = job.wish.how == PinSupport.KV_HINTS;
            if (costs && !keepAlives.take(job.wish.to, job.ids.length)) {
                later(job, "the worker is busy");
                continue;
            }
            line.running++;
            SidePost.send(
                    engines,
                    vertx,
                    request(job),
                    job.pins.options.timeout(),
                    reply -> {
                        line.running--;
                        if (costs) {
                            keepAlives.done(job.wish.to);
                        }
                        answered(job, reply);
                        next(line);
                    });
        }
    }

    private UpstreamRequest request(Job job) {
        Wish w = job.wish;
        String id = w.requestId + "-pin";
        if (w.how == PinSupport.KV_HINTS) {
            String hints = PinMessages.kvHints(id, w.ttlSeconds);
            return new WarmRequest(
                            id, w.to, w.model, w.scope.tenant(), w.authorization, job.ids, hints)
                    .upstream();
        }
        MultiMap extra = MultiMap.caseInsensitiveMultiMap();
        extra.add("content-type", "application/json");
        extra.add("x-request-id", id);
        if (w.authorization != null) {
            extra.add("authorization", w.authorization);
        }
        return new UpstreamRequest(
                w.to.worker().name(),
                w.to.worker().url(),
                job.pins.options.path(),
                MultiMap.caseInsensitiveMultiMap(),
                extra,
                Buffer.buffer(PinMessages.pin(job.ids, w.ttlSeconds, w.scope.tenant())),
                false,
                true,
                List.of());
    }

    private void answered(Job job, SidePost.Reply reply) {
        PinMessages.Answer answer =
                job.wish.how == PinSupport.KV_HINTS
                        ? PinMessages.ofRequest(reply)
                        : PinMessages.ofPin(reply);
        switch (answer) {
            case PinMessages.Answer.Granted g -> granted(job, g.nodes(), g.said());
            case PinMessages.Answer.Refused r -> end(job, Result.REJECTED, r.why());
            case PinMessages.Answer.Absent a -> {
                supports.withdrawn(worker(job));
                end(job, Result.UNSUPPORTED, job.pins.options.path() + " is not there");
            }
            case PinMessages.Answer.Failed f -> later(job, f.why());
        }
    }

    private void later(Job job, String why) {
        long delay =
                Math.min(LONGEST_DELAY_MILLIS, FIRST_DELAY_MILLIS << Math.min(job.tries - 1, 5));
        boolean over = System.nanoTime() + delay * 1_000_000 - job.deadline >= 0;
        if (closed || over || job.tries > job.pins.options.retries() || !isThere(job.wish.to)) {
            end(job, Result.FAILED, why);
            return;
        }
        job.pins.metrics.retried();
        vertx.setTimer(
                delay,
                t -> {
                    if (isThere(job.wish.to)) {
                        queue(job);
                    } else {
                        end(job, Result.FAILED, "the worker has left");
                    }
                });
    }

    /** The same incarnation: another one has nothing to keep. */
    private boolean isThere(Candidate rank) {
        return fleet.snapshot().workers().stream()
                .filter(w -> w.id() == rank.worker().id())
                .anyMatch(w -> w.ranks().stream().anyMatch(r -> r.slot().equals(rank.slot())));
    }

    private void granted(Job job, int nodes, String said) {
        leave(job);
        job.pins.granted(job.pin, nodes, said);
    }

    private void end(Job job, Result result, String reason) {
        leave(job);
        job.pins.denied(job.wish, job.pin, result, reason);
    }

    private void leave(Job job) {
        Line line = lines.get(worker(job));
        if (line != null && --line.open == 0) {
            lines.remove(worker(job));
        }
    }

    private static long worker(Job job) {
        return job.wish.to.worker().id();
    }

    /** Nothing new is asked for; what runs ends by itself. */
    @Override
    public void close() {
        context.runOnContext(v -> closed = true);
        keepAlives.close();
    }
}
