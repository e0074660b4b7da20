package io.warmpath.upstream;

/** Shows engines the key that they want, in place of whatever the client has shown. */
public final class KeyedEngineClient implements EngineClient {
    private final EngineClient client;
    private final EngineKeys keys;

    public KeyedEngineClient(EngineClient client, EngineKeys keys) {
        this.client = client;
        this.keys = keys;
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        String key = keys.of(request.base());
        if (key != null) {
            request.extra().set("authorization", key);
        }
        return client.send(request, listener);
    }

    @Override
    public void close() {
        client.close();
    }
}
