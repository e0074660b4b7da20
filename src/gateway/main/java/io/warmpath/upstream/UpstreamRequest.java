package io.warmpath.upstream;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.util.List;

/**
 * One POST to an engine.
 *
 * @param worker name for messages and logs; never an address
 * @param base base URL of the engine; a path in it is put before {@code target}
 * @param target path and query, from the client's request
 * @param headers the client's headers, unfiltered; hop-by-hop and end-to-end-only ones are dropped
 *     on the way out
 * @param extra headers that the gateway adds; they replace the client's of the same name
 * @param body sent with its length; not changed, may be sent again
 * @param freshConnection do not reuse a kept-alive connection
 * @param passThrough of an API that is not looked into; has its own time-outs
 * @param others base URLs of workers that can take it as it is, the best first, for what sends
 *     elsewhere on its own
 */
public record UpstreamRequest(
        String worker,
        URI base,
        String target,
        MultiMap headers,
        MultiMap extra,
        Buffer body,
        boolean freshConnection,
        boolean passThrough,
        List<URI> others) {
    public UpstreamRequest withBody(Buffer other) {
        return new UpstreamRequest(
                worker, base, target, headers, extra, other, freshConnection, passThrough, others);
    }
}
