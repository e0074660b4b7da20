package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.config.SessionConfig;
import io.warmpath.replica.SessionViews;
import io.warmpath.session.Affinity;
import io.warmpath.session.AffinityOptions;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.Rendezvous;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SessionTable;
import io.warmpath.telemetry.SessionMeters;
import java.time.Duration;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.jspecify.annotations.Nullable;

/** The sessions of this gateway, from the configuration. */
final class SessionParts {
    private final AffinityOptions options;
    private final SessionTable table;
    private final Affinity affinity;
    private final PrefillBudget prefills;

    /**
     * @param views where bindings are shared with other gateways; null: nowhere
     */
    SessionParts(SessionConfig config, @Nullable SessionViews views) {
        options =
                new AffinityOptions(
                        config.affinityTtl().orElse(Duration.ZERO),
                        AffinityOptions.Mode.valueOf(config.affinityMode().name()),
                        AffinityOptions.Placement.valueOf(config.placement().name()),
                        config.max());
        SessionConfig.Prefill p = config.prefill();
        prefills =
                new PrefillBudget(
                        new PrefillBudget.Options(
                                p.concurrency(), p.tokensPerSecond(), p.maxBacklog()),
                        System::nanoTime);
        table =
                new SessionTable(
                        options, System::nanoTime, views == null ? SessionNews.NONE : views);
        if (views != null) {
            views.into(table);
        }
        XXHash64 hash = XXHashFactory.fastestJavaInstance().hash64();
        affinity =
                new Affinity(
                        options,
                        new Rendezvous((bytes, seed) -> hash.hash(bytes, 0, bytes.length, seed)),
                        table);
    }

    Affinity affinity() {
        return affinity;
    }

    PrefillBudget prefills() {
        return prefills;
    }

    SessionTable table() {
        return table;
    }

    void bind(MeterRegistry registry) {
        if (options.on()) {
            SessionMeters.bind(registry, table);
        }
    }
}
