package io.warmpath.upstream;

import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.SignsOfLife;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link EngineClient} with an HTTP/1.1 client of its own on the event loops of Vert.x.
 *
 * <p>Each loop has its own connections, so a request never leaves the loop of its client. One read
 * of an engine's socket is one callback with the bytes of all the chunks in it; nothing is
 * allocated per chunk. Engines that speak HTTP/2 are left to {@link VertxEngineClient}.
 */
public final class RawEngineClient implements EngineClient {
    private final UpstreamOptions options;
    private final EngineTls tls;
    private final @Nullable AddressGuard guard;
    private final SignsOfLife signs;
    private final LongSupplier nanoTime;
    private final Map<EventLoop, RawLoop> loops = new ConcurrentHashMap<>();
    private final EngineClient http2;

    /**
     * @param http2 for engines that speak HTTP/2; closed with this one
     * @param guard asked of what names lead to; null: they lead anywhere
     * @param signs told which engines send
     * @param nanoTime as {@link System#nanoTime}
     */
    public RawEngineClient(
            UpstreamOptions options,
            EngineTls tls,
            EngineClient http2,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        this.signs = signs;
        this.guard = guard;
        this.tls = tls;
        this.http2 = http2;
        this.options = options;
        this.nanoTime = nanoTime;
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        if (EngineAddress.isHttp2(request.base())) {
            return http2.send(request, listener);
        }
        Context context = CallingLoop.context();
        RawLoop loop = loopOf(context);
        RawCall call = new RawCall(loop, context, request, listener);
        call.start();
        return call;
    }

    @Override
    public void unwell(String worker, Duration patience) {
        loops.values().forEach(l -> l.unwell(worker, patience));
        http2.unwell(worker, patience);
    }

    @Override
    public void well(String worker) {
        loops.values().forEach(l -> l.well(worker));
        http2.well(worker);
    }

    @Override
    public void close() {
        loops.values().forEach(RawLoop::close);
        http2.close();
    }

    private RawLoop loopOf(Context context) {
        EventLoop loop = VertxInternals.eventLoop(context);
        RawLoop known = loops.get(loop);
        return known != null
                ? known
                : loops.computeIfAbsent(
                        loop, l -> new RawLoop(l, options, tls, guard, signs, nanoTime));
    }
}
