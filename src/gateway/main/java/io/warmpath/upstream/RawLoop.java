package io.warmpath.upstream;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoop;
import io.netty.channel.epoll.EpollMode;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.concurrent.ScheduledFuture;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.SignsOfLife;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What one event loop has for its engines: pools, deadlines, scratch memory. That loop only. */
final class RawLoop {
    /** Most of an answer that is read at once, and so that a slow client makes us hold. */
    static final int READ_BYTES = 32 << 10;

    private static final int FIRST_READ_BYTES = 8 << 10;
    private static final int SMALLEST_READ_BYTES = 1 << 10;

    /** An address is asked for again after this time, however long its record lives. */
    private static final int MAX_ADDRESS_SECONDS = 30;

    private final EventLoop loop;
    private final UpstreamOptions options;
    private final EngineTls tls;
    private final @Nullable AddressGuard guard;
    private final LongSupplier nanoTime;
    private final Deadlines deadlines;
    private final Map<URI, RawPool> pools = new HashMap<>();
    private final Bootstrap network;
    private final @Nullable Bootstrap socketFiles;
    private final DnsAddressResolverGroup resolver;
    private final ScheduledFuture<?> timer;
    private final Gather gather;
    private final SharedReads reads = new SharedReads(READ_BYTES);
    private @Nullable SocketWriter writer;
    private byte[] turn = new byte[READ_BYTES];
    private boolean closed;

    RawLoop(
            EventLoop loop,
            UpstreamOptions options,
            EngineTls tls,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        this.deadlines = new Deadlines(signs);
        this.tls = tls;
        this.guard = guard;
        this.loop = loop;
        this.options = options;
        this.nanoTime = nanoTime;
        this.gather = new Gather(!options.gather().isZero());
        boolean epoll = Epoll.isAvailable() && loop instanceof EpollEventLoop;
        resolver =
                new DnsAddressResolverGroup(
                        new DnsNameResolverBuilder()
                                .datagramChannelType(
                                        epoll
                                                ? EpollDatagramChannel.class
                                                : NioDatagramChannel.class)
                                .ttl(0, MAX_ADDRESS_SECONDS)
                                .negativeTtl(1));
        network =
                common(epoll)
                        .channel(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
                        .resolver(resolver)
                        .option(ChannelOption.TCP_NODELAY, true)
                        .option(ChannelOption.SO_KEEPALIVE, true);
        socketFiles = epoll ? common(true).channel(EpollDomainSocketChannel.class) : null;
        long period = options.sweepMillis();
        timer = loop.scheduleAtFixedRate(this::sweep, period, period, TimeUnit.MILLISECONDS);
    }

    private Bootstrap common(boolean epoll) {
        Bootstrap bootstrap =
                new Bootstrap()
                        .group(loop)
                        .option(ChannelOption.RCVBUF_ALLOCATOR, reads)
                        .option(
                                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                                Math.toIntExact(options.connectTimeout().toMillis()));
        if (epoll) {
            // Edge-triggered, each wake-up would read once more to find the socket empty.
            bootstrap.option(EpollChannelOption.EPOLL_MODE, EpollMode.LEVEL_TRIGGERED);
        }
        return bootstrap;
    }

    /** One read a turn, too; SslHandler keeps what is the beginning of a record. */
    private static AdaptiveRecvByteBufAllocator readsBelowTls() {
        AdaptiveRecvByteBufAllocator reads =
                new AdaptiveRecvByteBufAllocator(SMALLEST_READ_BYTES, FIRST_READ_BYTES, READ_BYTES);
        reads.maxMessagesPerRead(1);
        return reads;
    }

    RawPool pool(URI base) {
        RawPool pool = pools.get(base);
        if (pool == null) {
            pool = new RawPool(this, base);
            pools.put(base, pool);
        }
        return pool;
    }

    /**
     * Where the answer bytes of one read turn are put together. Turns of two connections never
     * overlap on a loop, so all share it; valid until the turn's callback returns.
     */
    byte[] turn(int length) {
        if (turn.length < length) {
            byte[] larger = new byte[Integer.highestOneBit(length - 1) << 1];
            System.arraycopy(turn, 0, larger, 0, turn.length);
            turn = larger;
        }
        return turn;
    }

    /** Of this event loop. */
    SocketWriter writer() {
        SocketWriter known = writer;
        if (known == null) {
            known = SocketWriter.ofLoop();
            writer = known;
        }
        return known;
    }

    /** What an engine has sent was read and passed on, and the answer goes on. */
    void readDone(Gather.Stream stream) {
        if (gather.read(stream, now())) {
            loop.execute(this::pause); // tasks run when all that was ready has been served
        }
    }

    /** The one place where an event loop stands still on purpose, for some 100 µs. */
    private void pause() {
        LockSupport.parkNanos(options.gather().toNanos());
        gather.paused();
    }

    /** Runs it when the caller has returned. */
    void soon(Runnable action) {
        loop.execute(action);
    }

    boolean reaches(EngineAddress engine) {
        return engine.socket() == null || socketFiles != null;
    }

    /** Connects, with {@code handler} in the channel. */
    ChannelFuture connect(URI base, EngineAddress to, ChannelHandler handler) {
        String file = to.socket();
        Bootstrap kind = file == null ? network : socketFiles;
        if (kind == null) {
            throw new IllegalStateException("socket files need Linux and Netty's epoll library");
        }
        Bootstrap one = kind.clone().handler(handler);
        if (to.tls()) {
            one.option(ChannelOption.RCVBUF_ALLOCATOR, readsBelowTls());
        }
        if (file != null) {
            return one.connect(new DomainSocketAddress(file));
        }
        if (guard != null && guard.judges(to.host())) {
            one.resolver(new GuardedNames(resolver, guard, Place.of(base)));
        }
        return one.connect(InetSocketAddress.createUnresolved(to.host(), to.port()));
    }

    EngineTls tls() {
        return tls;
    }

    Deadlines deadlines() {
        return deadlines;
    }

    UpstreamOptions options() {
        return options;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    boolean isClosed() {
        return closed;
    }

    /** Any thread. */
    void unwell(String worker, Duration patience) {
        loop.execute(() -> deadlines.unwell(worker, now(), patience.toNanos()));
    }

    /** Any thread. */
    void well(String worker) {
        loop.execute(() -> deadlines.well(worker));
    }

    private void sweep() {
        long now = now();
        deadlines.sweep(now);
        for (Iterator<RawPool> i = pools.values().iterator(); i.hasNext(); ) {
            if (!i.next().trim(now)) {
                i.remove();
            }
        }
    }

    /** Any thread; running calls end as broken. */
    void close() {
        loop.execute(
                () -> {
                    closed = true;
                    timer.cancel(false);
                    pools.values().forEach(RawPool::close);
                    resolver.close();
                    // Behind what closing the channels has put into the queue.
                    loop.execute(reads::close);
                });
    }
}
