package io.warmpath.adapter.nats;

import io.nats.client.JetStreamApiException;
import io.nats.client.api.KeyValueEntry;
import io.warmpath.state.SharedKeys;
import io.warmpath.state.SharedPresence;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A key-value bucket; made when it is not there, else used as it is. Any thread but an event loop.
 */
public final class NatsKeys implements SharedKeys, SharedPresence {
    private final KeyBucket keys;

    /** {@code ttl}: after which a value goes that is not written again; zero: never. */
    public NatsKeys(NatsLink link, String bucket, Duration ttl) {
        this.keys = new KeyBucket(link, bucket, "Warmpath gateways", ttl);
    }

    @Override
    public Optional<Entry> get(String key) throws IOException {
        return keys.ask(
                "asking for " + key,
                kv -> Optional.ofNullable(kv.get(key)).flatMap(NatsKeys::entry));
    }

    private static Optional<Entry> entry(KeyValueEntry e) {
        byte[] value = e.getValue();
        return Optional.of(new Entry(value == null ? new byte[0] : value, e.getRevision()));
    }

    @Override
    public long put(String key, byte[] value, long expected) throws IOException {
        return keys.ask(
                "writing " + key,
                kv -> {
                    try {
                        return expected == ABSENT
                                ? kv.create(key, value)
                                : kv.update(key, value, expected);
                    } catch (JetStreamApiException e) {
                        if (KeyBucket.refused(e)) {
                            return REFUSED;
                        }
                        throw e;
                    }
                });
    }

    @Override
    public void here(String gateway, String inWords) throws IOException {
        keys.ask(
                "telling that this gateway is alive",
                kv -> kv.put(gateway, inWords.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public void gone(String gateway) throws IOException {
        keys.ask(
                "telling that this gateway ends",
                kv -> {
                    kv.purge(gateway);
                    return true;
                });
    }

    @Override
    public Map<String, String> present() throws IOException {
        return keys.ask(
                "asking which gateways are alive",
                kv -> {
                    Map<String, String> all = new HashMap<>();
                    for (String key : kv.keys()) {
                        KeyValueEntry e = kv.get(key);
                        if (e != null) {
                            all.put(key, String.valueOf(e.getValueAsString()));
                        }
                    }
                    return all;
                });
    }
}
