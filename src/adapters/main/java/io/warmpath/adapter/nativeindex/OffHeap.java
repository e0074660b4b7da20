package io.warmpath.adapter.nativeindex;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A reusable off-heap buffer that grows by doubling. One thread at a time. Its memory is returned
 * by the garbage collector, so a thread that ends leaks nothing. The raw {@link #address} is valid
 * while this object is reachable and until the next growth. Single values go through {@link
 * #values}, arrays through {@link #segment}: a segment reads and writes single values by var
 * handles, which a native executable does not have for it.
 */
final class OffHeap {
    private static final int ALIGNMENT = 8;

    private final long keepAtMost;
    private MemorySegment segment;
    private @Nullable ByteBuffer values;

    /** {@code keepAtMost}: bytes kept after {@link #trim}; more is for one large call only. */
    OffHeap(long firstBytes, long keepAtMost) {
        this.keepAtMost = keepAtMost;
        this.segment = allocate(firstBytes);
    }

    MemorySegment segment() {
        return segment;
    }

    /**
     * The same memory, of at most two gibibytes, in the processor's byte order; until the next
     * growth.
     */
    ByteBuffer values() {
        ByteBuffer known = values;
        if (known == null) {
            known = values(segment);
            values = known;
        }
        return known;
    }

    /** A segment's memory in the processor's byte order. */
    static ByteBuffer values(MemorySegment segment) {
        return segment.asByteBuffer().order(ByteOrder.nativeOrder());
    }

    long address() {
        return segment.address();
    }

    long capacity() {
        return segment.byteSize();
    }

    /** Room for {@code bytes}; what was written before is lost when it grows. */
    void ensure(long bytes) {
        if (bytes > segment.byteSize()) {
            replace(larger(bytes));
        }
    }

    /** Room for {@code bytes}; the first {@code used} bytes stay. */
    void ensure(long bytes, long used) {
        if (bytes > segment.byteSize()) {
            MemorySegment old = segment;
            replace(larger(bytes));
            MemorySegment.copy(old, 0, segment, 0, used);
        }
    }

    /** Gives the memory of an unusually large call back. */
    void trim() {
        if (segment.byteSize() > keepAtMost) {
            replace(keepAtMost);
        }
    }

    private void replace(long bytes) {
        segment = allocate(bytes);
        values = null;
    }

    private long larger(long bytes) {
        return Math.max(bytes, segment.byteSize() * 2);
    }

    private static MemorySegment allocate(long bytes) {
        return Arena.ofAuto().allocate(bytes, ALIGNMENT);
    }
}
