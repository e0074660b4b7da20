package io.warmpath.upstream;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;

/**
 * What comes back from an engine: {@code head data* end}, or {@code failed} at any point, which
 * ends it. Called on the event loop of the call.
 */
public interface UpstreamListener {
    /** Status and headers as the engine sent them, hop-by-hop headers included. 1xx are skipped. */
    void head(int status, MultiMap headers);

    /** Everything that arrived in one turn of the loop; the buffer is the listener's. */
    void data(Buffer chunk);

    /** The answer is complete; {@code rest} is what arrived in the same turn, maybe empty. */
    void end(Buffer rest);

    /** The call is over without a complete answer. */
    void failed(GatewayError error);
}
