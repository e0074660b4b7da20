package io.warmpath.net.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What clients' connections read into. */
class ClientReadsTest {
    private static final ByteBufAllocator MEMORY = PooledByteBufAllocator.DEFAULT;

    private final EmbeddedChannel one = new EmbeddedChannel();
    private final EmbeddedChannel other = new EmbeddedChannel();

    @AfterEach
    void close() {
        one.finishAndReleaseAll();
        other.finishAndReleaseAll();
        FastThreadLocal.removeAll(); // as at the end of a loop
    }

    private static ExtendedHandle handle(EmbeddedChannel of, boolean shared) {
        ClientReads.into(of);
        if (shared) {
            ClientReads.share(of);
        }
        ExtendedHandle handle = (ExtendedHandle) of.config().getRecvByteBufAllocator().newHandle();
        handle.reset(of.config());
        return handle;
    }

    @Test
    void connections_read_into_the_same_memory_one_after_the_other() {
        ByteBuf first = handle(one, true).allocate(MEMORY);
        first.writeLong(1);
        first.release();
        ByteBuf second = handle(other, true).allocate(MEMORY);
        assertSame(first, second);
        assertEquals(0, second.readableBytes());
        assertEquals(64 << 10, second.writableBytes());
        second.release();
    }

    @Test
    void what_somebody_keeps_is_not_written_over() {
        ExtendedHandle handle = handle(one, true);
        ByteBuf kept = handle.allocate(MEMORY).writeLong(7);
        ByteBuf next = handle.allocate(MEMORY).writeLong(8);
        assertNotSame(kept, next);
        assertEquals(7, kept.getLong(0));
        assertEquals(1, kept.refCnt(), "its keeper's only");
        kept.release();
        next.release();
        handle.allocate(MEMORY).release();
    }

    @Test
    void until_then_each_has_the_memory_that_netty_gives_it() {
        ExtendedHandle handle = handle(one, false);
        int before = handle.guess();
        ByteBuf first = handle.allocate(MEMORY);
        ByteBuf second = handle.allocate(MEMORY);
        assertNotSame(first, second);
        assertEquals(before, first.writableBytes());
        first.release();
        second.release();
        handle.attemptedBytesRead(before);
        handle.lastBytesRead(before);
        handle.incMessagesRead(1);
        assertTrue(handle.continueReading());
        handle.readComplete();
        assertTrue(handle.guess() > before, "it learns");
        ClientReads.share(one);
        assertEquals(64 << 10, handle.guess());
    }

    @Test
    void the_memory_goes_with_its_event_loop() throws Exception {
        CompletableFuture<ByteBuf> memory = new CompletableFuture<>();
        Thread loop =
                new FastThreadLocalThread(
                        () -> {
                            ByteBuf read = handle(one, true).allocate(MEMORY);
                            read.release();
                            memory.complete(read);
                        });
        loop.start();
        ByteBuf read = memory.get(10, TimeUnit.SECONDS);
        loop.join();
        assertEquals(0, read.refCnt());
    }

    @Test
    void a_full_read_is_followed_by_another_unless_it_was_the_sixteenth_or_reading_stops() {
        ExtendedHandle handle = handle(one, true);
        handle.attemptedBytesRead(100);
        for (int read = 1; read <= 16; read++) {
            handle.lastBytesRead(100);
            handle.incMessagesRead(1);
            assertEquals(read < 16, handle.continueReading());
        }
        handle.reset(one.config());
        handle.lastBytesRead(99);
        assertEquals(99, handle.lastBytesRead());
        assertEquals(100, handle.attemptedBytesRead());
        assertFalse(handle.continueReading(), "the socket is empty");
        assertTrue(handle.continueReading(() -> true));
        one.config().setAutoRead(false);
        assertFalse(handle.continueReading(() -> true));
        handle.readComplete();
    }

    @Test
    void a_short_piece_does_not_keep_the_memory_of_a_whole_read() {
        ExtendedHandle handle = handle(one, true);
        ByteBuf read = handle.allocate(MEMORY).writeLong(7);
        ByteBuf own = ClientReads.own(read, MEMORY);
        assertNotSame(read, own);
        assertEquals(7, own.readLong());
        assertTrue(own.capacity() < 1_000, () -> "it holds " + own.capacity());
        own.release();
        ByteBuf next = handle.allocate(MEMORY);
        assertSame(read, next);
        next.writeZero(16 << 10);
        assertSame(next, ClientReads.own(next, MEMORY), "long enough to be kept as it is");
        next.release();
    }
}
