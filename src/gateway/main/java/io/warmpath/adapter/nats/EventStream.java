package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.time.Duration;

/** The stream of KV events: made by whoever comes first, relay or gateway. Stateless. */
final class EventStream {
    private static final int NOT_FOUND = 404;
    private static final Duration DUPLICATES = Duration.ofMinutes(2);

    private EventStream() {}

    /**
     * Looks for it, and makes it when it is not there. One that is there stays as it is: operators
     * may have changed it. {@code retention}: how long events are kept.
     */
    static StreamInfo ensure(Connection c, NatsNames names, Duration retention)
            throws IOException, JetStreamApiException {
        JetStreamManagement streams = c.jetStreamManagement();
        try {
            return streams.getStreamInfo(names.stream());
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() != NOT_FOUND) {
                throw e;
            }
        }
        try {
            return streams.addStream(
                    StreamConfiguration.builder()
                            .name(names.stream())
                            .description("KV events of engines, passed on by their relays")
                            .subjects(names.streamSubjects())
                            .storageType(StorageType.File)
                            .discardPolicy(DiscardPolicy.Old)
                            .maxAge(retention)
                            .duplicateWindow(
                                    retention.compareTo(DUPLICATES) < 0 ? retention : DUPLICATES)
                            .build());
        } catch (JetStreamApiException e) {
            // Another one may have been faster, with another retention.
            return streams.getStreamInfo(names.stream());
        }
    }
}
