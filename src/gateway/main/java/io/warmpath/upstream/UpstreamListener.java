package io.warmpath.upstream;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;

/**
 * What comes back from an engine: {@code head data* end}, or {@code failed} at any point, which
 * ends it. Called on the event loop of the call.
 */
public interface UpstreamListener {
    /** Status and headers as the engine sent them, hop-by-hop headers included. 1xx are skipped. */
    void head(int status, MultiMap headers);

    /**
     * Everything that arrived in one turn of the loop. The bytes are the listener's until it
     * returns, to be changed or copied; never kept. {@code length}: more than 0.
     */
    void data(byte[] b, int from, int length);

    /** The answer is complete; what arrived in the same turn, maybe nothing, as {@link #data}. */
    void end(byte[] b, int from, int length);

    /** The call is over without a complete answer. */
    void failed(GatewayError error);
}
