package io.warmpath.fleet.probe;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import java.util.List;

/** Asks a worker about itself. Any thread; all calls block for up to their time-out. */
public interface WorkerProbe {
    /** Throws {@link ProbeException} when it cannot be reached or its answers make no sense. */
    WorkerProfile learn(WorkerSpec spec) throws ProbeException;

    /**
     * What it serves now: adapters come and go while an engine runs.
     *
     * @throws ProbeException as {@link #learn} does
     */
    default ServedModels served(WorkerSpec spec) throws ProbeException {
        return learn(spec).served();
    }

    /**
     * The cheap question: does its process live, and does it take requests? It costs the engine no
     * token. Never throws for what a worker does.
     */
    Health health(WorkerSpec spec, EngineKind kind);

    /**
     * The deep question: does it compute? Asked of a worker that is suspected only, and with the
     * patience that its kind of engine has with itself. Where a kind has no such question, the
     * cheap one. Never throws for what a worker does.
     */
    default Health deepHealth(WorkerSpec spec, EngineKind kind) {
        return health(spec, kind);
    }

    /**
     * What the engine is doing, rank by rank; empty when such engines do not tell.
     *
     * @throws ProbeException when it cannot be reached or its answers make no sense
     */
    default List<EngineLoad> load(WorkerSpec spec, EngineKind kind) throws ProbeException {
        return List.of();
    }

    /**
     * Outcome of a health check.
     *
     * @param detail what was seen, for the operator; may contain the worker's address
     */
    record Health(Verdict verdict, String detail) {}

    /** How a worker took a health check. */
    enum Verdict {
        OK,
        /** Answered badly, or could not be asked. */
        FAILING,
        /** No answer in time: it has stopped, or is only busy. */
        LATE,
        /** Answered 503: it takes no requests now, and knows it. */
        UNAVAILABLE,
        /** Says that it is draining: running requests finish, it wants no new ones. */
        DRAINING,
        /** Nobody listens at its port: the process is gone, and its cache with it. */
        REFUSED,
        /** It could not be asked, for a reason that lies here: nothing is known of it. */
        NOT_ASKED
    }
}
