package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import org.junit.jupiter.api.Test;

/** One buffer for all connections of a loop, one after the other. */
class SharedReadsTest {
    private final SharedReads reads = new SharedReads(64);

    @Test
    void every_read_gets_the_same_buffer_empty() {
        ExtendedHandle handle = reads.newHandle();
        ByteBuf first = handle.allocate(ByteBufAllocator.DEFAULT);
        first.writeLong(1);
        assertEquals(64, first.capacity());
        assertFalse(handle.continueReading(), "a turn is one read");
        first.release();
        ByteBuf second = reads.newHandle().allocate(ByteBufAllocator.DEFAULT);
        assertSame(first, second);
        assertEquals(0, second.readableBytes());
        second.release();
        assertEquals(1, second.refCnt());
        reads.close();
        assertEquals(0, second.refCnt());
    }

    @Test
    void bytes_that_somebody_keeps_are_not_written_over() {
        ExtendedHandle handle = reads.newHandle();
        ByteBuf kept = handle.allocate(ByteBufAllocator.DEFAULT);
        assertThrows(IllegalStateException.class, () -> handle.allocate(ByteBufAllocator.DEFAULT));
        kept.release();
        handle.allocate(ByteBufAllocator.DEFAULT).release();
        reads.close();
    }
}
