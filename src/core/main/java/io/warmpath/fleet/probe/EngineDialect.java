package io.warmpath.fleet.probe;

import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The interface by which one kind of engine tells about itself. Stateless, any thread. */
public interface EngineDialect {
    EngineKind kind();

    /**
     * What the engine at {@code worker} says, or empty when another kind of engine answers there.
     * What it tells in a form that is not usable is left out, and named.
     *
     * @throws IOException when it stays open which kind of engine answers there
     */
    Optional<EngineFacts> ask(URI worker, EngineHttp http) throws IOException;

    /** Tokens per block of an engine that does not say and was not told; 0: the fleet's default. */
    default int usualBlockSize() {
        return 0;
    }

    /**
     * With what the registry of an engine that prefills says, where there is something to ask.
     *
     * @throws IOException when the registry could not be asked, or answered unreadably
     */
    default Disaggregation registered(URI worker, Disaggregation its, EngineHttp http)
            throws IOException {
        return its;
    }

    /**
     * Whether its process lives and takes requests, without a generated token.
     *
     * @param patience what the engine's own deep question may take, where this one leads to it
     * @throws IOException when the engine could not be asked
     */
    default WorkerProbe.Health health(URI worker, EngineHttp http, Duration patience)
            throws IOException {
        return HealthAnswers.read("/health", http.get(worker, "/health"));
    }

    /**
     * Whether it computes; may cost a generated token, and takes up to {@code patience}.
     *
     * @throws IOException when the engine could not be asked
     */
    default WorkerProbe.Health deepHealth(URI worker, EngineHttp http, Duration patience)
            throws IOException {
        return health(worker, http, patience);
    }

    /**
     * What its ranks are doing now, by its own numbers; empty when it does not tell.
     *
     * @throws IOException when the engine could not be asked, or answered unreadably
     */
    default List<EngineLoad> load(URI worker, EngineHttp http) throws IOException {
        return List.of();
    }
}
