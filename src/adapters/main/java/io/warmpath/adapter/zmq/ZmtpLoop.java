package io.warmpath.adapter.zmq;

import io.warmpath.fleet.address.AddressGuard;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What connections of one owner share with their loop. One thread.
 *
 * @param selector of the loop
 * @param buffer read into by whoever's turn it is; empty between turns
 * @param limits of what peers may send
 * @param owner whose connections these are; null: whoever runs the loop
 * @param guard asked before each connection to another host; null: names lead anywhere
 */
record ZmtpLoop(
        Selector selector,
        ByteBuffer buffer,
        LongSupplier nanoTime,
        ZmtpLimits limits,
        @Nullable ZmqSource owner,
        @Nullable AddressGuard guard) {
    /** What waits for a channel to be ready. */
    interface Ready {
        void ready();
    }

    /** What a key carries. */
    record Attached(@Nullable ZmqSource owner, Ready handler) {}

    SelectionKey register(SelectableChannel channel, int interest, Ready handler)
            throws ClosedChannelException {
        return channel.register(selector, interest, new Attached(owner, handler));
    }
}
