package io.warmpath.adapter.nativeindex;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class CallGuardTest {
    private final CallGuard guard = new CallGuard();

    @Test
    void close_waits_for_the_call_that_runs() throws InterruptedException {
        Scratch running = guard.enter();
        AtomicBoolean closed = new AtomicBoolean();
        Thread closer = Thread.ofPlatform().start(() -> closed.set(guard.close()));
        await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        assertFalse(closed.get(), "closed beside a running call");
        // The refusal comes before the end of the wait: no new call gets in.
        assertThrows(IllegalStateException.class, guard::enter);
        guard.exit(running);
        closer.join();
        assertTrue(closed.get());
    }

    @Test
    void only_one_close_closes() {
        assertTrue(guard.close());
        assertFalse(guard.close());
        IllegalStateException e = assertThrows(IllegalStateException.class, guard::enter);
        assertEquals("the prefix index is closed", e.getMessage());
    }

    @Test
    void a_thread_keeps_its_buffers_and_shares_them_with_no_other() throws InterruptedException {
        Scratch mine = guard.enter();
        guard.exit(mine);
        assertSame(mine, guard.enter());
        Scratch[] others = new Scratch[1];
        Thread.ofPlatform()
                .start(
                        () -> {
                            others[0] = guard.enter();
                            guard.exit(others[0]);
                        })
                .join();
        assertNotSame(mine, others[0]);
        guard.exit(mine);
    }

    @Test
    void virtual_threads_borrow_buffers_from_each_other() throws InterruptedException {
        Scratch[] seen = new Scratch[2];
        for (int i = 0; i < 2; i++) {
            int turn = i;
            Thread.startVirtualThread(
                            () -> {
                                seen[turn] = guard.enter();
                                guard.exit(seen[turn]);
                            })
                    .join();
        }
        assertSame(seen[0], seen[1]);
    }

    @Test
    void a_large_call_leaves_no_large_buffer_behind() {
        Scratch scratch = guard.enter();
        scratch.tokens.ensure(64L << 20);
        assertTrue(scratch.tokens.capacity() >= 64L << 20);
        guard.exit(scratch);
        assertTrue(scratch.tokens.capacity() <= 4L << 20);
    }
}
