package io.warmpath.wiring;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.api.Routes;
import io.warmpath.api.client.ClientGate;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.FlowSettings;
import io.warmpath.wiring.settings.RouterSettings;
import io.warmpath.wiring.tokens.TokenParts;
import io.warmpath.wiring.warmup.WarmStart;
import io.warmpath.wiring.warmup.Warmup;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.security.SecureRandom;

/**
 * The path of requests once more, for the warm-up. It shares what leaves no trace: the tokenizers,
 * their threads, and the index, which is only asked.
 */
final class WarmupPath implements Warmup.Parts {
    /** Remembered pieces of its few prompts. */
    private static final long CACHE_BYTES = 1 << 20;

    private static final long BODY_BYTES = 64 << 10;

    private final WarmpathConfig config;
    private final MemoryPlan plan;
    private final TokenParts tokens;
    private final OverlapParts caches;
    private final Warmup.Target target;
    private final EngineClient engines;

    WarmupPath(
            WarmpathConfig config,
            MemoryPlan plan,
            TokenParts tokens,
            EngineParts engines,
            OverlapParts caches,
            Warmup.Target target) {
        this.config = config;
        this.plan = plan;
        this.tokens = tokens;
        this.caches = caches;
        this.target = target;
        this.engines = engines.apart();
    }

    /**
     * The gateway's warm-up, not started: at first for any engine, then for the first ready one.
     */
    static WarmStart start(
            WarmpathConfig config,
            MemoryPlan plan,
            Vertx vertx,
            TokenParts tokens,
            EngineParts engines,
            OverlapParts caches) {
        return new WarmStart(
                target ->
                        new Warmup(
                                vertx,
                                config.warmup().requests(),
                                config.warmup().time(),
                                target,
                                WarmupPath::compileMillis,
                                new WarmupPath(config, plan, tokens, engines, caches, target)),
                new Warmup.Target(tokens.models().anyModel().orElse("any"), EngineKind.OPENAI),
                config.warmup().time());
    }

    @Override
    public void mount(Router router, Fleet fleet, FlowMetrics metrics) {
        // Its visitor names no worker, and its prompts are larger than the smallest limit.
        RouterOptions configured = RouterSettings.options(config);
        RouterOptions kept =
                configured.mode() == RouterMode.DIRECT
                        ? configured.with(RouterMode.KV)
                        : configured;
        long body = Math.max(BODY_BYTES, config.http().maxBodySize().bytes());
        LoadTracker load =
                FlowSettings.loadTracker(
                        config.router(), new SecureRandom().nextLong(), BookingListener.NONE);
        Routes routes =
                new RequestPath(
                                config,
                                tokens,
                                tokens.apart(target.model(), CACHE_BYTES),
                                fleet,
                                engines,
                                load,
                                caches.overlaps().askedOnly(CACHE_BYTES),
                                FlowSettings.router(config, load, kept, DecisionLog.OFF, false),
                                FlowSettings.options(config, plan, body).with(ClientBounds.OFF),
                                FlowSettings.migration(
                                        config.migration(), plan, new SimpleMeterRegistry()),
                                metrics)
                        .routes(() -> "", ClientGate.OPEN);
        routes.mount(router);
        routes.mountChat(router);
    }

    @Override
    public void close() {
        engines.close();
    }

    /** What the JVM's compilers have taken; 0 where there are none, as in a native executable. */
    private static long compileMillis() {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers == null || !compilers.isCompilationTimeMonitoringSupported()
                ? 0
                : compilers.getTotalCompilationTime();
    }
}
