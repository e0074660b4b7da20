package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.AttributeKey;
import io.netty.util.UncheckedBooleanSupplier;
import io.netty.util.concurrent.FastThreadLocal;
import org.jspecify.annotations.Nullable;

/**
 * What a client's connection reads into: what Netty would take, and from {@link #share} on memory
 * that all such connections of the event loop read into one after the other, which so stays in the
 * processor's caches. How often it is read in a row is Netty's affair.
 *
 * <p>Whoever lets go of these bytes at once costs nothing; whoever keeps them keeps the memory of a
 * whole read, and the next read gets other memory, so what is to be kept is copied when it is short
 * ({@link #own}). One connection, its event loop.
 */
final class ClientReads extends RecvByteBufAllocator.DelegatingHandle
        implements RecvByteBufAllocator.ExtendedHandle {
    /** As much as Netty reads at most. */
    private static final int READ_BYTES = 64 << 10;

    private static final AttributeKey<ClientReads> KEY =
            AttributeKey.valueOf(ClientReads.class, "reads");

    private static final FastThreadLocal<Shared> SHARED =
            new FastThreadLocal<>() {
                @Override
                protected Shared initialValue() {
                    return new Shared();
                }

                @Override
                protected void onRemoval(Shared ended) {
                    ended.end();
                }
            };

    private final RecvByteBufAllocator.ExtendedHandle netty;
    private @Nullable Shared shared;

    private ClientReads(RecvByteBufAllocator.ExtendedHandle netty) {
        super(netty);
        this.netty = netty;
    }

    /** For a connection from which nothing has been read yet. */
    static void into(Channel channel) {
        RecvByteBufAllocator netty = channel.config().getRecvByteBufAllocator();
        if (netty.newHandle() instanceof RecvByteBufAllocator.ExtendedHandle handle) {
            ClientReads reads = new ClientReads(handle);
            channel.attr(KEY).set(reads);
            channel.config().setRecvByteBufAllocator(() -> reads);
        }
    }

    /** From its next read on; all that it reads is either let go of at once or {@link #own}. */
    static void share(Channel channel) {
        ClientReads reads = channel.attr(KEY).get();
        if (reads != null) {
            reads.shared = SHARED.get();
        }
    }

    /**
     * @param in taken
     * @return the same bytes, to be kept: they hold at most four times the memory that they need
     */
    static ByteBuf own(ByteBuf in, ByteBufAllocator memory) {
        int bytes = in.readableBytes();
        if (bytes >= in.capacity() / 4) {
            return in;
        }
        try {
            return memory.directBuffer(bytes).writeBytes(in);
        } finally {
            in.release();
        }
    }

    /**
     * Of an event loop. Pooled, as what Netty would take: Vert.x never releases what it takes for
     * unpooled.
     */
    private static final class Shared {
        private @Nullable ByteBuf buffer;

        ByteBuf take(ByteBufAllocator memory) {
            ByteBuf one = buffer;
            if (one == null || one.refCnt() != 1) { // somebody has kept what was read last
                end();
                one = memory.directBuffer(READ_BYTES, READ_BYTES);
                buffer = one;
            }
            return one.clear().retain();
        }

        void end() {
            ByteBuf one = buffer;
            buffer = null;
            if (one != null) {
                one.release();
            }
        }
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator memory) {
        Shared from = shared;
        return from == null ? netty.allocate(memory) : from.take(memory);
    }

    @Override
    public int guess() {
        return shared == null ? netty.guess() : READ_BYTES;
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
        return netty.continueReading(maybeMore);
    }
}
