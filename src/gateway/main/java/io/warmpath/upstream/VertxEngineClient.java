package io.warmpath.upstream;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.upstream.tls.EngineTls;
import java.net.URI;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link EngineClient} over Vert.x's HTTP client. Speaks HTTP/1.1, and HTTP/2 with engines whose
 * URL says so. Each event loop has its own client and so its own connections: a request never
 * leaves the loop of its client's connection. What arrives in one turn of the loop is handed on as
 * one buffer, so that a burst of small chunks costs one write instead of one each.
 */
public final class VertxEngineClient implements EngineClient {
    private final EngineLoops<VertxLoop> loops;

    /**
     * @param guard asked of what names lead to; null: they lead anywhere
     * @param signs gets the names of engines that send
     * @param nanoTime as {@link System#nanoTime}
     */
    public VertxEngineClient(
            Vertx vertx,
            UpstreamOptions options,
            EngineTls tls,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        this.loops =
                new EngineLoops<>(
                        loop -> new VertxLoop(loop, vertx, options, tls, guard, signs, nanoTime));
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        Context context = EngineLoops.callingContext();
        VertxCall call = new VertxCall(loops.of(context), context, request, listener);
        call.start();
        return call;
    }

    @Override
    public void unwell(URI worker, Duration patience) {
        loops.unwell(worker, patience);
    }

    @Override
    public void well(URI worker) {
        loops.well(worker);
    }

    @Override
    public void left(URI worker, Duration patience, boolean lost) {
        loops.left(worker, patience, lost);
    }

    @Override
    public void close() {
        loops.close();
    }
}
