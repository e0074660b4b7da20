package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.StorageType;
import java.io.IOException;
import java.time.Duration;

/**
 * A key-value bucket; made when it is not there, else used as it is. Any thread but an event loop.
 */
final class KeyBucket {
    /** The server's code for: the value has another revision. */
    private static final int WRONG_REVISION = 10071;

    private final NatsLink link;
    private final String name;
    private final String description;
    private final Duration ttl;
    private volatile boolean made;

    /** {@code ttl}: after which a value goes that is not written again; zero: never. */
    KeyBucket(NatsLink link, String name, String description, Duration ttl) {
        this.link = link;
        this.name = name;
        this.description = description;
        this.ttl = ttl;
    }

    /** What is asked of a bucket. */
    interface Question<T> {
        T ask(KeyValue kv) throws IOException, JetStreamApiException, InterruptedException;
    }

    /**
     * @param what for messages
     * @throws IOException whatever goes wrong
     */
    <T> T ask(String what, Question<T> question) throws IOException {
        try {
            return NatsCall.ask(link, what + " in " + name, c -> question.ask(open(c)));
        } catch (IOException e) {
            made = false; // somebody may have removed it
            throw e;
        }
    }

    /** Whether the server refused a write, since the value has another revision. */
    static boolean refused(JetStreamApiException e) {
        return e.getApiErrorCode() == WRONG_REVISION;
    }

    private KeyValue open(Connection c)
            throws IOException, JetStreamApiException, InterruptedException {
        if (!made) {
            if (!c.keyValueManagement().getBucketNames().contains(name)) {
                c.keyValueManagement()
                        .create(
                                KeyValueConfiguration.builder(name)
                                        .description(description)
                                        .storageType(StorageType.File)
                                        .ttl(ttl)
                                        .build());
            }
            made = true;
        }
        return c.keyValue(name);
    }
}
