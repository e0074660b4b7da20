package io.warmpath.upstream;

import io.warmpath.upstream.tls.EngineKeys;
import java.net.URI;
import java.time.Duration;

/** Shows engines the key that they want, in place of whatever the client has shown. */
public record KeyedEngineClient(EngineClient client, EngineKeys keys) implements EngineClient {
    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        String key = keys.of(request.base());
        if (key != null) {
            request.extra().set("authorization", key);
        }
        return client.send(request, listener);
    }

    @Override
    public void unwell(URI worker, Duration patience) {
        client.unwell(worker, patience);
    }

    @Override
    public void well(URI worker) {
        client.well(worker);
    }

    @Override
    public void left(URI worker, Duration patience, boolean lost) {
        client.left(worker, patience, lost);
    }

    @Override
    public void close() {
        client.close();
    }
}
