package io.warmpath.adapter.nats;

import io.nats.client.JetStreamManagement;
import io.nats.client.PurgeOptions;
import io.nats.client.api.ConsumerInfo;
import io.nats.client.api.StreamInfo;
import io.nats.client.api.StreamState;
import io.warmpath.state.SharedStream;
import io.warmpath.state.SnapshotRules;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The stream of KV events as a whole: how much is in it, who follows it, and dropping what nobody
 * needs. A gateway has applied what its durable consumer has acknowledged. Any thread but an event
 * loop.
 */
public record NatsStream(NatsLink link, String stream) implements SharedStream {
    @Override
    public Optional<Look> look() throws IOException {
        try {
            return NatsCall.ask(
                    link,
                    "looking at " + stream,
                    c -> {
                        JetStreamManagement jsm = c.jetStreamManagement();
                        StreamInfo info = jsm.getStreamInfo(stream);
                        Map<String, Long> applied = new HashMap<>();
                        for (ConsumerInfo i : jsm.getConsumers(stream)) {
                            String of = NatsNames.gateway(i.getName());
                            if (of != null) {
                                applied.put(of, i.getAckFloor().getStreamSequence());
                            }
                        }
                        Duration age = info.getConfiguration().getMaxAge();
                        return Optional.of(
                                new Look(counts(info), age == null ? Duration.ZERO : age, applied));
                    });
        } catch (NatsCall.NotThere e) {
            return Optional.empty();
        }
    }

    private static SnapshotRules.Stream counts(StreamInfo info) {
        StreamState s = info.getStreamState();
        return new SnapshotRules.Stream(
                info.getCreateTime().toInstant().toEpochMilli(),
                s.getMsgCount(),
                s.getFirstSequence(),
                s.getLastSequence(),
                s.getMsgCount() == 0 ? 0 : s.getFirstTime().toInstant().toEpochMilli());
    }

    @Override
    public void purge(long upTo) throws IOException {
        NatsCall.ask(
                link,
                "purging " + stream,
                c ->
                        c.jetStreamManagement()
                                .purgeStream(
                                        stream, PurgeOptions.builder().sequence(upTo + 1).build()));
    }

    @Override
    public void forget(String gateway) throws IOException {
        try {
            NatsCall.ask(
                    link,
                    "removing the consumer of " + gateway,
                    c ->
                            c.jetStreamManagement()
                                    .deleteConsumer(stream, NatsNames.consumer(gateway)));
        } catch (NatsCall.NotThere e) {
            // Another gateway was faster.
        }
    }
}
