package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test class after which Netty finds a buffer that nobody released. */
final class Leaks implements BeforeAllCallback, AfterAllCallback {
    private static final List<String> FOUND = new CopyOnWriteArrayList<>();

    @Override
    public void beforeAll(ExtensionContext context) {
        ByteBufUtil.setLeakListener((type, records) -> FOUND.add(type + "\n" + records));
        FOUND.clear();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        // Leaks are found when the leaked buffer has been collected and another one is allocated.
        for (int i = 0; i < 3; i++) {
            System.gc();
            for (int n = 0; n < 200; n++) {
                PooledByteBufAllocator.DEFAULT.directBuffer(64).release();
            }
        }
        List<String> found = List.copyOf(FOUND);
        FOUND.clear();
        assertTrue(found.isEmpty(), () -> found.size() + " leaks, the first: " + found.get(0));
    }
}
