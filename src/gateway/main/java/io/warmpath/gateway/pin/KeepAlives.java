package io.warmpath.gateway.pin;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.pin.PinMetrics.KeepAlive;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.load.LoadBook;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.pin.Pin;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.upstream.EngineClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps pinned prefixes from becoming the oldest in a worker's cache: asks for them now and then,
 * within a budget and only while users leave the worker time. Also forgets pins that are over. All
 * on one event loop of its own, whose tick costs a look at each pin that is kept so. Prompts and
 * what clients authorise themselves with are in memory only: after a restart a pin is kept fresh
 * again from the next request on that it fits.
 */
public final class KeepAlives {
    private static final long MAX_TICK_MILLIS = 1_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final class Kept {
        private final int[] ids;
        private final @Nullable String authorization;
        private long dueNanos;
        private boolean running;

        Kept(int[] ids, @Nullable String authorization, long dueNanos) {
            this.ids = ids;
            this.authorization = authorization;
            this.dueNanos = dueNanos;
        }
    }

    private final Vertx vertx;
    private final Context context;
    private final EngineClient engines;
    private final Fleet fleet;
    private final LoadBook load;
    private final PinLedger ledger;
    private final PinMetrics metrics;
    private final PrefillBudget budget;
    private final Duration interval;
    private final LongSupplier nanoTime;
    private final Map<Long, Kept> kept = new HashMap<>();
    private long timer = -1;

    /**
     * @param budget what such requests may cost a worker
     * @param interval between two of one pin
     * @param nanoTime as {@link System#nanoTime}
     */
    public KeepAlives(
            Vertx vertx,
            EngineClient engines,
            Fleet fleet,
            LoadBook load,
            PinLedger ledger,
            PinMetrics metrics,
            PrefillBudget budget,
            Duration interval,
            LongSupplier nanoTime) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.engines = engines;
        this.fleet = fleet;
        this.load = load;
        this.ledger = ledger;
        this.metrics = metrics;
        this.budget = budget;
        this.interval = interval;
        this.nanoTime = nanoTime;
    }

    Context context() {
        return context;
    }

    boolean on() {
        return budget.on();
    }

    /** Begins to look. */
    public void start() {
        long tick = Math.clamp(interval.toMillis() / 4, 1, MAX_TICK_MILLIS);
        context.runOnContext(v -> timer = vertx.setPeriodic(tick, t -> tick()));
    }

    void close() {
        context.runOnContext(v -> vertx.cancelTimer(timer));
    }

    /** On the loop. */
    void keep(long pin, int[] ids, @Nullable String authorization) {
        kept.put(pin, new Kept(ids, authorization, nanoTime.getAsLong() + interval.toNanos()));
    }

    boolean has(long pin) {
        return kept.containsKey(pin);
    }

    /** Room in the budget for one more request; to be given back by {@link #done}. */
    boolean take(Candidate to, int tokens) {
        return !budget.isBusy(load.load(to.slot()).prefillTokens())
                && budget.take(to.worker().id(), tokens);
    }

    void done(Candidate to) {
        budget.done(to.worker().id());
    }

    private void tick() {
        ledger.expire();
        if (kept.isEmpty()) {
            return;
        }
        long now = nanoTime.getAsLong();
        List<Long> over = new ArrayList<>(0);
        for (Map.Entry<Long, Kept> e : kept.entrySet()) {
            Pin pin = ledger.find(e.getKey());
            Kept k = e.getValue();
            if (pin == null || pin.how() != PinSupport.KEEP_ALIVE) {
                over.add(e.getKey());
            } else if (!k.running && now - k.dueNanos >= 0) {
                due(pin, k, now);
            }
        }
        over.forEach(kept::remove);
    }

    private void due(Pin pin, Kept k, long now) {
        Candidate to = rank(pin);
        if (to == null || !to.worker().hasRoom()) {
            return; // it may come back; else the pin leaves with it
        }
        if (budget.isBusy(load.load(to.slot()).prefillTokens())) {
            metrics.keepAlive(KeepAlive.BUSY);
            k.dueNanos = now + interval.toNanos() / 4;
            return;
        }
        if (!budget.take(pin.worker(), k.ids.length)) {
            metrics.keepAlive(KeepAlive.BUDGET);
            k.dueNanos = now + interval.toNanos() / 4;
            return;
        }
        k.running = true;
        k.dueNanos = now + interval.toNanos();
        SidePost.send(
                engines,
                vertx,
                new WarmRequest(
                                "pin-" + pin.number(),
                                to,
                                pin.model(),
                                pin.scope().tenant(),
                                k.authorization,
                                k.ids,
                                "")
                        .upstream(),
                TIMEOUT,
                reply -> {
                    budget.done(pin.worker());
                    k.running = false;
                    answered(pin, reply);
                });
    }

    private void answered(Pin pin, SidePost.Reply reply) {
        if (reply.status() != 200) {
            metrics.keepAlive(KeepAlive.FAILED);
            if (reply.status() >= 400 && reply.status() < 500 && reply.status() != 429) {
                ledger.drop(pin.number()); // it will not be taken the next time, either
            }
            return;
        }
        long cached = cached(reply.text());
        long whole = (long) pin.blocks() * pin.blockSize();
        if (cached < 0) {
            metrics.keepAlive(KeepAlive.UNSAID);
        } else {
            metrics.keepAlive(
                    cached + pin.blockSize() < whole ? KeepAlive.COMPUTED : KeepAlive.KEPT);
        }
    }

    /** What was cached, as the answer says; -1 when it does not. */
    private static long cached(String answer) {
        JsonNode usage = GatewayJson.tree(answer).path("usage");
        JsonNode cached = usage.path("prompt_tokens_details").path("cached_tokens");
        return cached.isNumber() ? cached.longValue() : -1;
    }

    private @Nullable Candidate rank(Pin pin) {
        for (Worker w : fleet.snapshot().workers()) {
            if (w.id() == pin.worker()) {
                for (Worker.Rank r : w.ranks()) {
                    if (r.dpRank() == pin.dpRank()) {
                        return new Candidate(w, r.dpRank(), r.slot());
                    }
                }
            }
        }
        return null;
    }
}
