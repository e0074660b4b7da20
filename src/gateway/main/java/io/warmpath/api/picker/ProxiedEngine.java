package io.warmpath.api.picker;

import io.vertx.core.MultiMap;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one request that a proxy sends: what is to be sent is told to the proxy, and what
 * the proxy tells of the answer goes to whoever listens. On the request's event loop.
 */
final class ProxiedEngine implements EngineClient, UpstreamCall {
    /** The proxy's side. */
    interface Proxy {
        /** Tells the proxy where to and what; once. */
        void send(UpstreamRequest chosen);
    }

    private final Proxy proxy;
    private @Nullable UpstreamListener listener;
    private @Nullable Watch watch;

    ProxiedEngine(Proxy proxy) {
        this.proxy = proxy;
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener to) {
        listener = to;
        proxy.send(request);
        return this;
    }

    void head(int status, MultiMap headers) {
        UpstreamListener to = listener;
        if (to != null) {
            to.head(status, headers);
        }
    }

    /** As {@link UpstreamListener#data}. */
    void data(byte[] b, int from, int length) {
        UpstreamListener to = listener;
        if (to != null) {
            to.data(b, from, length);
        }
    }

    void end(byte[] b, int from, int length) {
        UpstreamListener to = listener;
        listener = null;
        if (to != null) {
            to.end(b, from, length);
        }
    }

    @Override
    public void cancel() {
        listener = null; // the proxy's client still gets what the engine writes
    }

    @Override
    public void pause() {
        // The proxy holds up the engine by itself.
    }

    @Override
    public void resume() {
        // As for pause.
    }

    @Override
    public void watchedBy(Watch by) {
        watch = by; // never told of silence: the request cannot be sent anywhere else any more
    }

    /** As {@link UpstreamCall.Watch#answeredBy}. */
    void answeredBy(long worker) {
        Watch to = watch;
        if (to != null && listener != null) {
            to.answeredBy(worker);
        }
    }

    @Override
    public boolean reusedConnection() {
        return false;
    }

    @Override
    public void unwell(URI worker, Duration patience) {
        // As for watches.
    }

    @Override
    public void well(URI worker) {
        // As for watches.
    }

    @Override
    public void left(URI worker, Duration patience, boolean lost) {
        // As for watches.
    }

    @Override
    public void close() {
        // It has nothing of its own.
    }
}
