package io.warmpath.api.picker;

import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.extproc.ProcessingRequest;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.HeapBytes;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What has come of a request's body, in memory that all bodies share. On the request's event loop.
 */
final class ArrivedBody {
    private static final byte[] NOTHING = {};

    private final BodyMemory.Reservation memory;
    private byte[] bytes = NOTHING;
    private int length;

    ArrivedBody(BodyMemory.Reservation memory) {
        this.memory = memory;
    }

    BodyMemory.Reservation memory() {
        return memory;
    }

    /**
     * @return false: there is no memory for it, and nothing was added
     */
    boolean add(ProcessingRequest news) {
        int more = news.length();
        if (bytes.length - length < more) {
            int size = Math.max(length + more, 2 * length);
            if (!memory.take(size - bytes.length)) {
                return false;
            }
            bytes = Arrays.copyOf(bytes, size);
        }
        System.arraycopy(news.array(), news.from(), bytes, length, more);
        length += more;
        return true;
    }

    int length() {
        return length;
    }

    /** There is none, or {@code {}}: nothing is asked of an engine. */
    boolean asksNothing() {
        return length == 0 || (length == 2 && bytes[0] == '{' && bytes[1] == '}');
    }

    /** Its bytes, not copied. */
    Buffer buffer() {
        @SuppressWarnings("deprecation") // the only public way without a copy
        Buffer buffer = Buffer.buffer(Unpooled.wrappedBuffer(bytes, 0, length));
        return buffer;
    }

    /** Its bytes, not copied. */
    HeapBytes asItCame() {
        return new HeapBytes(bytes, 0, length);
    }

    /**
     * @return null: {@code other} has the same bytes
     */
    @Nullable HeapBytes unlessSame(Buffer other) {
        HeapBytes now = HeapBytes.of(other);
        int end = now.offset() + now.length();
        return Arrays.equals(now.array(), now.offset(), end, bytes, 0, length) ? null : now;
    }

    /** Nobody needs it any more. */
    void forget() {
        bytes = NOTHING;
        length = 0;
    }

    /** {@link #forget}; the memory is others' again. */
    void free() {
        forget();
        memory.free();
    }
}
