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
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.Place;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.net.Gather;
import io.warmpath.net.GuardedNames;
import io.warmpath.net.SharedReads;
import io.warmpath.upstream.tls.EngineTls;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Pools, scratch memory and resolver of one event loop. That loop only. */
final class RawLoop extends EngineLoop {
    /** Most of an answer that is read at once, and so that a slow client makes us hold. */
    static final int READ_BYTES = 32 << 10;

    private static final int FIRST_READ_BYTES = 8 << 10;
    private static final int SMALLEST_READ_BYTES = 1 << 10;

    /** An address is asked for again after this time, however long its record lives. */
    private static final int MAX_ADDRESS_SECONDS = 30;

    private final EngineTls tls;
    private final @Nullable AddressGuard guard;
    private final Map<URI, RawPool> pools = new HashMap<>();
    private final Bootstrap network;
    private final @Nullable Bootstrap socketFiles;
    private final DnsAddressResolverGroup resolver;
    private final Gather gather;
    private final SharedReads reads = new SharedReads(READ_BYTES);
    private byte[] turn = new byte[READ_BYTES];
    private boolean closed;

    RawLoop(
            EventLoop loop,
            UpstreamOptions options,
            EngineTls tls,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        super(loop, options, signs, nanoTime);
        this.tls = tls;
        this.guard = guard;
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
    }

    private Bootstrap common(boolean epoll) {
        Bootstrap bootstrap =
                new Bootstrap()
                        .group(loop())
                        .option(ChannelOption.RCVBUF_ALLOCATOR, reads)
                        .option(
                                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                                Math.toIntExact(options().connectTimeout().toMillis()));
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
     * overlap on a loop, so one serves all; valid until the turn's callback returns.
     */
    byte[] turn(int length) {
        if (turn.length < length) {
            byte[] larger = new byte[Integer.highestOneBit(length - 1) << 1];
            System.arraycopy(turn, 0, larger, 0, turn.length);
            turn = larger;
        }
        return turn;
    }

    /** What an engine has sent was read and passed on, and the answer goes on. */
    void readDone(Gather.Stream stream) {
        if (gather.read(stream, now())) {
            loop().execute(this::pause); // tasks run when all that was ready has been served
        }
    }

    /** The one place where an event loop stands still on purpose, for some 100 µs. */
    private void pause() {
        LockSupport.parkNanos(options().gather().toNanos());
        gather.paused();
    }

    /** Runs it when the caller has returned. */
    void soon(Runnable action) {
        loop().execute(action);
    }

    /** This thread is the loop's. */
    boolean isHere() {
        return loop().inEventLoop();
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
        AddressGuard judge = guard;
        if (judge != null && judge.judges(to.host())) {
            Place place = Place.of(base);
            one.resolver(new GuardedNames(resolver, found -> judge.check(place, found)));
        }
        return one.connect(InetSocketAddress.createUnresolved(to.host(), to.port()));
    }

    EngineTls tls() {
        return tls;
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    void sweep(long now) {
        super.sweep(now);
        pools.values().removeIf(pool -> !pool.trim(now));
    }

    @Override
    void closeConnections() {
        closed = true;
        pools.values().forEach(RawPool::close);
        resolver.close();
        // Behind what closing the channels has put into the queue.
        loop().execute(reads::close);
    }
}
