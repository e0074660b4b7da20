package io.warmpath.wiring.memory;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What this process takes, as Linux and the JVM tell it. Any thread. */
final class ProcessMemory implements MemoryWatch.Readings {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";

    /** Where long-lived objects are. */
    private final Optional<MemoryPoolMXBean> old =
            ManagementFactory.getMemoryPoolMXBeans().stream()
                    .filter(p -> p.getType() == MemoryType.HEAP)
                    .filter(p -> p.getName().contains("Old") || p.getName().contains("Tenured"))
                    .findFirst();

    @Override
    public long resident() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith(RESIDENT)) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
                }
            }
        } catch (IOException e) {
            return 0; // another system than Linux, or no file left to open: the heap still tells
        }
        return 0;
    }

    @Override
    public double heapInUse() {
        MemoryUsage kept = old.map(MemoryPoolMXBean::getCollectionUsage).orElse(null);
        return kept == null || kept.getMax() <= 0 ? 0 : (double) kept.getUsed() / kept.getMax();
    }

    @Override
    public long processors() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getProcessCpuTime()
                : -1;
    }

    /** Gives back what is garbage: the heap shrinks with it. */
    @Override
    public void collect() {
        System.gc();
    }
}
