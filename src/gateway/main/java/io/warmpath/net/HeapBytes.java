package io.warmpath.net;

import io.netty.buffer.ByteBuf;
import io.vertx.core.buffer.Buffer;

/** A buffer's bytes without a copy where it lies on the heap, as Vert.x' own buffers do. */
public record HeapBytes(byte[] array, int offset, int length) {
    public static HeapBytes of(Buffer buffer) {
        @SuppressWarnings("deprecation") // the only public way to the array
        ByteBuf bytes = buffer.getByteBuf();
        return bytes.hasArray()
                ? new HeapBytes(
                        bytes.array(), bytes.arrayOffset() + bytes.readerIndex(), buffer.length())
                : new HeapBytes(buffer.getBytes(), 0, buffer.length());
    }
}
