package io.warmpath.wiring.session;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.config.state.SessionConfig;
import io.warmpath.config.state.SessionControlConfig;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.agent.EngineSessions;
import io.warmpath.gateway.agent.SessionCloser;
import io.warmpath.replica.SessionViews;
import io.warmpath.session.Affinity;
import io.warmpath.session.AffinityOptions;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.Rendezvous;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SharedSessions;
import io.warmpath.telemetry.SessionMeters;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.memory.MemoryPlan;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.jspecify.annotations.Nullable;

/** The sessions of this gateway, from the configuration. */
public final class SessionParts {
    private static final long REAP_MILLIS = 1_000;
    private static final long LAST_CLOSES_NANOS = 2_000_000_000;
    private static final long CLOSED_YET_NANOS = 10_000_000;

    private final AffinityOptions options;
    private final SessionTable table;
    private final Affinity affinity;
    private final PrefillBudget prefills;
    private final Vertx vertx;
    private final SessionCloser closer;
    private final ControlledSessions controlled;
    private final SharedSessions shared;
    private final EngineSessions engineSessions;
    private long reaper = -1;

    /**
     * @param plan how much memory what is kept may have
     * @param views where bindings are shared with other gateways; null: nowhere
     */
    public SessionParts(
            SessionConfig config,
            MemoryPlan plan,
            @Nullable SessionViews views,
            Vertx vertx,
            Fleet fleet,
            EngineClient engines) {
        this.vertx = vertx;
        options =
                new AffinityOptions(
                        config.affinityTtl().orElse(Duration.ZERO),
                        config.affinityMode(),
                        config.placement(),
                        config.max());
        SessionConfig.Prefill p = config.prefill();
        prefills =
                new PrefillBudget(
                        new PrefillBudget.Options(
                                p.concurrency(), p.tokensPerSecond(), p.maxBacklog()),
                        System::nanoTime);
        SessionNews news = views == null ? SessionNews.NONE : views;
        table = new SessionTable(options, System::nanoTime, news);
        SessionControlConfig control = config.control();
        closer = new SessionCloser(vertx, fleet, config.max());
        controlled =
                new ControlledSessions(
                        new ControlledSessions.Options(
                                config.max(),
                                Math.toIntExact(control.historySize().bytes()),
                                plan.kept(control.historiesSize().bytes()),
                                control.maxPinned()),
                        System::nanoTime,
                        closer);
        SecureRandom random = new SecureRandom();
        shared =
                new SharedSessions(
                        news, controlled, config.max(), System::nanoTime, random::nextInt);
        if (views != null) {
            views.into(table);
            views.into(shared);
        }
        engineSessions =
                new EngineSessions(
                        controlled, shared, engines, control.openTimeout(), random.nextLong());
        closer.through(engineSessions);
        XXHash64 hash = XXHashFactory.fastestJavaInstance().hash64();
        affinity =
                new Affinity(
                        options,
                        new Rendezvous((bytes, seed) -> hash.hash(bytes, 0, bytes.length, seed)),
                        table);
    }

    public Affinity affinity() {
        return affinity;
    }

    public PrefillBudget prefills() {
        return prefills;
    }

    public SessionTable table() {
        return table;
    }

    public ControlledSessions controlled() {
        return controlled;
    }

    public EngineSessions engineSessions() {
        return engineSessions;
    }

    public void start() {
        reaper =
                vertx.setPeriodic(
                        REAP_MILLIS,
                        t -> {
                            table.sweep();
                            controlled.reap();
                            shared.sweep();
                        });
    }

    /** Nobody will know the sessions any more: engines let go of them, as far as they answer. */
    public void close() {
        vertx.cancelTimer(reaper);
        controlled.closeAll();
        long end = System.nanoTime() + LAST_CLOSES_NANOS;
        while (closer.waiting() > 0 && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(CLOSED_YET_NANOS);
        }
    }

    public void bind(MeterRegistry registry) {
        SessionMeters.bind(registry, controlled, closer);
        if (options.on()) {
            SessionMeters.bind(registry, table);
        }
    }
}
