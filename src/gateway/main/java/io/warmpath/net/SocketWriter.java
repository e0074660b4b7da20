package io.warmpath.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandler;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends bytes of answers to their sockets from memory that all connections of an event loop share,
 * in one system call and nothing else: no buffer, no pipeline, no list of what is to be written.
 * With a thousand streams, most of what a chunk costs here is the first look at the objects of its
 * stream; this way there are fewer of them. One per event loop, and that loop only.
 */
public final class SocketWriter {
    /** Nothing was sent: the pipeline has to, and meets what is wrong if anything is. */
    public static final int NOT_SENT = -1;

    /** The most that is sent so. */
    public static final int MAX_BYTES = 72 << 10;

    /** A whole read of the engine's answer, and its frame. */
    private static final int FIRST_BYTES = 40 << 10;

    private static final FastThreadLocal<SocketWriter> WRITERS =
            new FastThreadLocal<>() {
                @Override
                protected SocketWriter initialValue() {
                    return new SocketWriter();
                }

                @Override
                protected void onRemoval(SocketWriter writer) {
                    writer.scratch.release();
                }
            };

    private final ByteBuf scratch = Unpooled.directBuffer(FIRST_BYTES);

    private SocketWriter() {}

    /** Of the calling event loop. */
    public static SocketWriter ofLoop() {
        return WRITERS.get();
    }

    /**
     * The socket below a channel; to be asked once a connection.
     *
     * @param encoder bytes are written from here on
     * @return null where somebody else has to see the bytes: TLS, a limit on traffic, or a
     *     transport other than epoll's
     */
    public static @Nullable Socket socket(ChannelHandlerContext encoder) {
        for (Map.Entry<String, ChannelHandler> handler : encoder.pipeline()) {
            if (handler.getValue() == encoder.handler()) {
                return encoder.channel() instanceof UnixChannel unix
                                && unix.fd() instanceof Socket socket
                                && ofLoop().scratch.hasMemoryAddress()
                        ? socket
                        : null;
            }
            if (handler.getValue() instanceof ChannelOutboundHandler) {
                return null;
            }
        }
        throw new IllegalStateException("the encoder is not in its pipeline");
    }

    /** All that was written to the channel before has been sent; false for a closed one. */
    public static boolean isEmpty(Channel channel) {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        return waiting != null && waiting.totalPendingWriteBytes() == 0;
    }

    /**
     * Empty memory for what {@link #send(Socket)} sends.
     *
     * @param bytes about how much will be written to it
     * @return null: it is too much
     */
    public @Nullable ByteBuf begin(int bytes) {
        return bytes > MAX_BYTES ? null : scratch.clear();
    }

    /**
     * Sends what was written since {@link #begin}; to a socket whose channel has nothing that
     * waits. Returns how many bytes are left, in {@link #rest}; or {@link #NOT_SENT}.
     */
    public int send(Socket to) {
        // The descriptor of a closed socket may be another connection's by now.
        if (!to.isOpen()) {
            return NOT_SENT;
        }
        ByteBuf out = scratch;
        try {
            out.skipBytes(to.sendAddress(out.memoryAddress(), 0, out.writerIndex()));
            return out.readableBytes();
        } catch (IOException e) {
            return NOT_SENT; // the pipeline's write fails in the same way, and closes the channel
        }
    }

    /** What was not sent, in memory of its own. */
    public ByteBuf rest(ByteBufAllocator memory) {
        return memory.directBuffer(scratch.readableBytes()).writeBytes(scratch);
    }
}
