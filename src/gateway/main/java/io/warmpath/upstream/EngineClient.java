package io.warmpath.upstream;

import java.net.URI;
import java.time.Duration;

/**
 * Sends requests to engines and hands back their answers. {@link #send} is called on an event loop
 * and every callback comes on that same loop, so neither side needs a lock; the engine's connection
 * lives on that loop too. No callback comes before {@link #send} has returned. {@link #close} any
 * thread.
 */
public interface EngineClient extends AutoCloseable {
    /** Starts one call. Never throws for what an engine does; that comes as {@code failed}. */
    UpstreamCall send(UpstreamRequest request, UpstreamListener listener);

    /**
     * The worker at this URL fails its health checks: the watch of a call that is silent for this
     * long, and for each such time more, is called ({@link UpstreamCall#watchedBy}). Any thread.
     */
    void unwell(URI worker, Duration patience);

    /** It is well again, or another one has come to its address. Any thread. */
    void well(URI worker);

    /**
     * It has left the fleet: the watches of its silent calls are called as for {@link #unwell}, for
     * good. Any thread.
     *
     * @param lost said after the first time: it fails, too. A silent call whose watch does not
     *     cancel it fails with {@code WorkerUnwell}
     */
    void left(URI worker, Duration patience, boolean lost);

    @Override
    void close();
}
