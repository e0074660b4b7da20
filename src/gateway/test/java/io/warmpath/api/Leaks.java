package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test class after which Netty finds a buffer that nobody released. */
public final class Leaks implements BeforeAllCallback, AfterAllCallback {
    private static final List<String> FOUND = new CopyOnWriteArrayList<>();

    @Override
    public void beforeAll(ExtensionContext context) {
        ByteBufUtil.setLeakListener((type, records) -> FOUND.add(type + "\n" + records));
        FOUND.clear();
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        // Leaks are found when the leaked buffer has been collected, its reference has been handed
        // over, and another buffer is allocated. The second round ends after all of the first one's
        // references have been handed over.
        for (int round = 0; round < 3; round++) {
            collect();
            for (int n = 0; n < 200; n++) {
                PooledByteBufAllocator.DEFAULT.directBuffer(64).release();
            }
        }
        List<String> found = List.copyOf(FOUND);
        FOUND.clear();
        assertTrue(found.isEmpty(), () -> found.size() + " leaks, the first: " + found.get(0));
    }

    /** Returns when the collector has run and has handed over the reference to a dead object. */
    private static void collect() throws InterruptedException {
        ReferenceQueue<Object> dead = new ReferenceQueue<>();
        PhantomReference<Object> witness = new PhantomReference<>(new Object(), dead);
        for (int tries = 0; tries < 100; tries++) {
            System.gc();
            if (dead.remove(100) == witness) {
                return;
            }
        }
        throw new AssertionError("the collector does not collect");
    }
}
