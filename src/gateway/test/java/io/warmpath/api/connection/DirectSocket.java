package io.warmpath.api.connection;

import io.netty.channel.Channel;

/** How a client's connection is written to, for tests of other rooms. */
public final class DirectSocket {
    private DirectSocket() {}

    /** Bytes of answers go to the socket itself, past the pipeline. */
    public static boolean isUsed(Channel client) {
        return client.pipeline().get(FlushHandler.class).socket() != null;
    }
}
