package io.warmpath.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * Lets all plain connections of an event loop read into the same memory, which so stays in the
 * processor's caches; one read a turn, so that a turn's bytes are bounded, and what is left wakes
 * the loop again. Reads of two connections never overlap on a loop. Each gets the one buffer,
 * empty, and must have let go of it when its turn ends: right for whoever copies, wrong below TLS.
 * One event loop.
 */
public final class SharedReads implements RecvByteBufAllocator {
    private final ByteBuf buffer;
    private final Reads handle = new Reads();

    public SharedReads(int bytes) {
        buffer = Unpooled.directBuffer(bytes, bytes);
    }

    /** No read follows. */
    public void close() {
        buffer.release();
    }

    @Override
    public ExtendedHandle newHandle() {
        return handle;
    }

    /** Of the connection that is being read. */
    private final class Reads implements ExtendedHandle {
        private int attempted;
        private int last;

        @Override
        public ByteBuf allocate(ByteBufAllocator ignored) {
            if (buffer.refCnt() != 1) {
                throw new IllegalStateException("the bytes of another read are still in use");
            }
            return buffer.clear().retain();
        }

        @Override
        public int guess() {
            return buffer.capacity();
        }

        @Override
        public void reset(ChannelConfig config) {
            last = 0;
        }

        @Override
        public void incMessagesRead(int messages) {
            // One a turn.
        }

        @Override
        public void lastBytesRead(int bytes) {
            last = bytes;
        }

        @Override
        public int lastBytesRead() {
            return last;
        }

        @Override
        public void attemptedBytesRead(int bytes) {
            attempted = bytes;
        }

        @Override
        public int attemptedBytesRead() {
            return attempted;
        }

        @Override
        public boolean continueReading() {
            return false;
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
            return false;
        }

        @Override
        public void readComplete() {
            // Nothing to learn: the buffer's size is fixed.
        }
    }
}
