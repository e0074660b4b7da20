package io.warmpath.telemetry.channel;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.telemetry.channel.RecordChannel.Loss;
import io.warmpath.wiring.Logs;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.logging.Level;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A channel before a connector that takes what the test lets it take. */
class RecordChannelTest {
    private final Connector connector = new Connector();
    private final Logs logs = new Logs(RecordChannel.class);
    private final RecordChannel<Integer> channel =
            new RecordChannel<>("usage", "stub", 4, String::valueOf);

    /** Takes what it has asked for, and settles what the test says. */
    private static final class Connector implements Flow.Subscriber<Message<String>> {
        final List<Message<String>> got = new CopyOnWriteArrayList<>();
        Flow.Subscription subscription;

        @Override
        public void onSubscribe(Flow.Subscription s) {
            subscription = s;
        }

        @Override
        public void onNext(Message<String> message) {
            got.add(message);
        }

        @Override
        public void onError(Throwable e) {
            throw new AssertionError(e);
        }

        @Override
        public void onComplete() {}

        List<String> texts() {
            return got.stream().map(Message::getPayload).toList();
        }
    }

    @AfterEach
    void close() {
        logs.close();
        channel.close();
    }

    private void offer(int from, int to) {
        for (int i = from; i <= to; i++) {
            channel.offer(i);
        }
    }

    private void settled(Runnable assertion) {
        await().untilAsserted(assertion::run);
    }

    private void acknowledge() {
        connector.got.forEach(m -> m.ack().toCompletableFuture().join());
    }

    @Test
    void records_that_find_the_queue_full_are_lost_with_one_warning_until_there_is_room() {
        channel.subscribe(connector);
        assertTrue(channel.connected());
        offer(1, 7); // nothing is asked for yet
        assertEquals(3, channel.lost(Loss.QUEUE_FULL));
        assertEquals(1, logs.at(Level.WARNING).size(), () -> "" + logs.at(Level.WARNING));
        assertFalse(channel.connected());

        connector.subscription.request(2);
        settled(() -> assertEquals(List.of("1", "2"), connector.texts()));
        assertEquals(2, channel.waiting());
        acknowledge();
        settled(() -> assertEquals(2, channel.sent()));
        assertTrue(channel.connected());
        connector.subscription.request(Long.MAX_VALUE);
        settled(() -> assertEquals(List.of("1", "2", "3", "4"), connector.texts()));
        offer(8, 8);
        settled(() -> assertEquals(5, connector.got.size()));
        acknowledge();
        acknowledge(); // twice is once
        assertEquals(5, channel.sent());
        assertEquals(1, logs.at(Level.WARNING).size());
        assertEquals(1, logs.at(Level.INFO).stream().filter(l -> l.contains("no more")).count());
    }

    @Test
    void what_the_connector_gives_back_is_lost() {
        channel.subscribe(connector);
        connector.subscription.request(10);
        offer(1, 2);
        settled(() -> assertEquals(2, connector.got.size()));
        connector.got.forEach(
                m -> m.nack(new IllegalStateException("no")).toCompletableFuture().join());
        assertEquals(2, channel.lost(Loss.REFUSED));
        assertEquals(0, channel.sent());
        assertEquals(1, logs.at(Level.WARNING).size());
        assertFalse(channel.connected());
    }

    @Test
    void a_gateway_that_ends_hands_over_what_waits_and_counts_the_rest() {
        channel.subscribe(connector);
        offer(1, 4);
        connector.subscription.request(2);
        settled(() -> assertEquals(2, connector.got.size()));
        acknowledge();
        channel.close();
        assertEquals(2, channel.lost(Loss.STOPPED));
        channel.offer(5);
        assertEquals(3, channel.lost(Loss.STOPPED));
    }

    @Test
    void a_channel_without_a_connector_loses_what_does_not_fit_and_never_waits() {
        offer(1, 6);
        assertEquals(2, channel.lost(Loss.QUEUE_FULL));
        assertFalse(channel.connected());
    }
}
