package io.warmpath;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** How much this thread allocates while it does something. */
public final class Allocated {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** May fail: what matters is what it takes until then. */
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    private Allocated() {}

    /** In bytes, of the second time: the first one loads classes. */
    public static long by(Work work) {
        long taken = 0;
        for (int i = 0; i < 2; i++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            try {
                work.run();
            } catch (Exception refused) {
                // That it is refused is not what is asked here.
            }
            taken = THREADS.getCurrentThreadAllocatedBytes() - before;
        }
        return taken;
    }
}
