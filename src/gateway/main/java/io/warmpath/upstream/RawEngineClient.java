package io.warmpath.upstream;

import io.vertx.core.Context;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.upstream.tls.EngineTls;
import java.net.URI;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link EngineClient} with an HTTP/1.1 client of its own on the event loops of Vert.x. Each loop
 * has its own connections, so a request never leaves the loop of its client. One read of an
 * engine's socket is one callback with the bytes of all the chunks in it; nothing is allocated per
 * chunk. Engines that speak HTTP/2 are left to {@link VertxEngineClient}.
 */
public final class RawEngineClient implements EngineClient {
    private final EngineLoops<RawLoop> loops;
    private final EngineClient http2;

    /**
     * @param http2 for engines that speak HTTP/2; closed with this one
     * @param guard asked of what names lead to; null: they lead anywhere
     * @param signs gets the names of engines that send
     * @param nanoTime as {@link System#nanoTime}
     */
    public RawEngineClient(
            UpstreamOptions options,
            EngineTls tls,
            EngineClient http2,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        this.http2 = http2;
        this.loops =
                new EngineLoops<>(loop -> new RawLoop(loop, options, tls, guard, signs, nanoTime));
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        if (EngineAddress.isHttp2(request.base())) {
            return http2.send(request, listener);
        }
        Context context = EngineLoops.callingContext();
        RawCall call = new RawCall(loops.of(context), context, request, listener);
        call.start();
        return call;
    }

    @Override
    public void unwell(URI worker, Duration patience) {
        loops.unwell(worker, patience);
        http2.unwell(worker, patience);
    }

    @Override
    public void well(URI worker) {
        loops.well(worker);
        http2.well(worker);
    }

    @Override
    public void left(URI worker, Duration patience, boolean lost) {
        loops.left(worker, patience, lost);
        http2.left(worker, patience, lost);
    }

    @Override
    public void close() {
        loops.close();
        http2.close();
    }
}
