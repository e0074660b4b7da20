package io.warmpath.upstream;

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
     * The worker fails its health checks: the watch of a call that is silent for this long, and for
     * each such time more, is called ({@link UpstreamCall#watchedBy}). Any thread.
     */
    void unwell(String worker, Duration patience);

    /** It is well again, or gone. Any thread. */
    void well(String worker);

    @Override
    void close();
}
