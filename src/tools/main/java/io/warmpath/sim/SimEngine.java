package io.warmpath.sim;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.warmpath.sim.cache.BlockHasher;
import io.warmpath.sim.cache.SglangPageHasher;
import io.warmpath.sim.cache.VllmBlockHasher;
import io.warmpath.sim.half.DecodeHalf;
import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.half.PrefillHalf;
import io.warmpath.sim.http.HttpServer;
import io.warmpath.sim.model.AnswerWriter;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.sim.wire.EventEncoder;
import io.warmpath.sim.wire.EventPublisher;
import io.warmpath.sim.wire.ReplayBuffer;
import io.warmpath.sim.wire.ReplayServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * A simulated engine in this process: real HTTP, real ZeroMQ events, a real paged cache, and no
 * model. Methods may be called from any thread. Everything of the engine happens on its one event
 * loop, except tokenizing (one thread) and replay (one thread).
 */
public final class SimEngine implements AutoCloseable {
    private final SimOptions options;
    private final EventLoopGroup group;
    private final EventLoop loop;
    private final ZContext context;
    private final ExecutorService tokenizing;
    private final ReplayServer replay;
    private final List<ZMQ.Socket> publishing;
    private final List<Rank> ranks;
    private final HttpServer server;
    private final @Nullable HttpServer registry;
    private final @Nullable DecodeHalf decodes;
    private final EngineApi api;
    private final int eventsPort;
    private final int replayPort;
    private final AtomicBoolean dead = new AtomicBoolean();
    private final CompletableFuture<Boolean> released = new CompletableFuture<>();

    private SimEngine(SimOptions options, SimTokenizer tokenizer) throws IOException {
        this.options = options;
        boolean epoll = Epoll.isAvailable();
        DefaultThreadFactory threads = new DefaultThreadFactory("sim-engine", true);
        this.group =
                epoll ? new EpollEventLoopGroup(1, threads) : new NioEventLoopGroup(1, threads);
        this.loop = group.next();
        this.context = new ZContext(1);
        this.tokenizing =
                Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().daemon().name("sim-tokenizer").factory());
        try {
            EventSockets pub =
                    EventSockets.bind(
                            context,
                            SocketType.PUB,
                            options.host(),
                            options.eventsPort(),
                            options.ranks());
            EventSockets router =
                    EventSockets.bind(
                            context,
                            SocketType.ROUTER,
                            options.host(),
                            options.replayPort(),
                            options.ranks());
            this.publishing = pub.sockets();
            this.eventsPort = pub.base();
            this.replayPort = router.base();
            List<ReplayBuffer> buffers = new ArrayList<>();
            this.ranks = ranks(pub.sockets(), buffers, tokenizer.startTokens());
            this.replay =
                    new ReplayServer(
                            context,
                            router.sockets(),
                            buffers,
                            options.topic(),
                            options.wire(),
                            String.valueOf(replayPort));
            Class<? extends ServerChannel> type =
                    epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
            Disaggregation role = options.disaggregation();
            PrefillHalf prefills =
                    role == null || role.mode() != Disaggregation.Mode.PREFILL
                            ? null
                            : new PrefillHalf(
                                    role,
                                    options.blockSize(),
                                    options.ranks(),
                                    new LoopTimers(loop));
            this.decodes =
                    role == null || prefills != null
                            ? null
                            : new DecodeHalf(role, new LoopTimers(loop), loop);
            this.registry =
                    role == null || prefills == null
                            ? null
                            : HttpServer.open(
                                    loop,
                                    type,
                                    e -> prefills.handle(e, port()),
                                    new InetSocketAddress(options.host(), role.bootstrapPort()));
            this.api =
                    new EngineApi(
                            options,
                            eventsPort,
                            replayPort,
                            ranks,
                            tokenizer,
                            new AnswerWriter(tokenizer, options.seed()),
                            tokenizing,
                            InstantSource.system(),
                            this::dieOnLoop,
                            prefills == null ? decodes : prefills,
                            bootstrapPort());
            this.server =
                    HttpServer.open(
                            loop,
                            type,
                            api::handle,
                            new InetSocketAddress(options.host(), options.port()));
        } catch (IOException | RuntimeException e) {
            shutDown(group, 0);
            tokenizing.shutdownNow();
            context.close();
            throw e;
        }
    }

    /**
     * Starts an engine that is ready when this returns.
     *
     * @param tokenizer shared by as many engines as one likes; not closed by them
     * @throws IOException when a port cannot be used
     */
    public static SimEngine start(SimOptions options, SimTokenizer tokenizer) throws IOException {
        SimEngine engine = new SimEngine(options, tokenizer);
        engine.replay.start();
        engine.onLoop(
                () -> {
                    engine.api.opened(engine.server);
                    engine.ranks.forEach(Rank::announce);
                    return true;
                });
        return engine;
    }

    private List<Rank> ranks(
            List<ZMQ.Socket> sockets, List<ReplayBuffer> buffers, Set<Integer> bos) {
        BlockHasher hasher =
                options.wire().sglang()
                        ? new SglangPageHasher()
                        : new VllmBlockHasher(options.hashSeed());
        EventEncoder encoder = new EventEncoder(options.wire(), options.rawHashes());
        LoopTimers timers = new LoopTimers(loop);
        List<Rank> made = new ArrayList<>();
        for (int r = 0; r < options.ranks(); r++) {
            ReplayBuffer buffer = new ReplayBuffer(options.bufferSteps());
            buffers.add(buffer);
            EventPublisher publisher =
                    new EventPublisher(
                            sockets.get(r),
                            options.topic(),
                            options.wire(),
                            encoder,
                            buffer,
                            InstantSource.system(),
                            r);
            made.add(new Rank(options, hasher, timers, publisher, bos));
        }
        return List.copyOf(made);
    }

    /** Base address, such as {@code http://127.0.0.1:30000}. */
    public URI url() {
        return URI.create("http://" + options.host() + ":" + port());
    }

    public int port() {
        return server.port();
    }

    /** PUB port of rank 0. */
    public int eventsPort() {
        return eventsPort;
    }

    /** ROUTER port of rank 0. */
    public int replayPort() {
        return replayPort;
    }

    /**
     * Where an engine that prefills is met; what an engine that decodes was told; 0: it answers
     * whole requests.
     */
    public int bootstrapPort() {
        if (registry != null) {
            return registry.port();
        }
        Disaggregation role = options.disaggregation();
        return role == null ? 0 : role.bootstrapPort();
    }

    public SimStats stats() {
        return onLoop(api::stats);
    }

    /** The next stream ends, and the engine with it, after this many events. */
    public void dieAfter(int chunks) {
        onLoop(
                () -> {
                    api.faults().dieAfter(chunks, Faults.End.ENGINE);
                    return true;
                });
    }

    /** Prompts of chats begin with this text, as with another version of their template. */
    public void startTemplateWith(String text) {
        onLoop(
                () -> {
                    api.faults().startTemplateWith(text);
                    return true;
                });
    }

    /** Empties every rank's cache; false when requests run. */
    public boolean clear() {
        return onLoop(api::clear);
    }

    /** Like a killed process: connections reset, ports free, nothing said to anyone. */
    public void kill() {
        if (dead.compareAndSet(false, true)) {
            onLoop(
                    () -> {
                        stopServing();
                        return true;
                    });
            release();
        } else {
            released.join();
        }
    }

    @Override
    public void close() {
        kill();
    }

    /** True once the engine was killed or closed. */
    public boolean isDead() {
        return dead.get();
    }

    /** Runs {@code action} once the engine is dead and its ports are free. */
    public void onDeath(Runnable action) {
        CompletableFuture<Void> unused = released.thenRun(action);
    }

    /** Called on the loop, where waiting for the loop's own end is not possible. */
    private void dieOnLoop(Channel... spared) {
        if (dead.compareAndSet(false, true)) {
            stopServing(spared);
            Thread.ofPlatform().name("sim-release").start(this::release);
        }
    }

    private void stopServing(Channel... spared) {
        ranks.forEach(Rank::silence);
        server.kill(spared);
        if (registry != null) {
            registry.kill();
        }
        publishing.forEach(ZMQ.Socket::close);
    }

    private void release() {
        replay.close();
        if (decodes != null) {
            decodes.close();
        }
        tokenizing.shutdownNow();
        // The quiet period lets a spared connection's last answer leave.
        shutDown(group, 50);
        context.close();
        released.complete(true);
    }

    private static void shutDown(EventLoopGroup group, int quietMillis) {
        Future<?> ended = group.shutdownGracefully(quietMillis, 2_000, TimeUnit.MILLISECONDS);
        Future<?> unused = ended.awaitUninterruptibly();
    }

    private <T> T onLoop(Callable<T> action) {
        try {
            return loop.submit(action).syncUninterruptibly().getNow();
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("this engine is dead; start another one", e);
        }
    }
}
