package io.warmpath.wiring.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.wiring.TestFeed;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FeedsByEndpointTest {
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final PostedFeed posted =
            new PostedFeed(
                    index,
                    new EventCounters(),
                    new SourceSession.Timing(1, 1, 1),
                    System::nanoTime);
    private final TestFeed sockets = new TestFeed();
    private final TestFeed polled = new TestFeed();
    private final EventSource asked =
            source(EventEndpoint.polled(URI.create("http://10.0.0.7:8000")).endpoint());

    @AfterEach
    void close() {
        posted.close();
        index.close();
    }

    private EventSource source(String endpoint) {
        return new EventSource("w", 0, List.of(index.open(0)), endpoint, false, null, "", 32);
    }

    @Test
    void each_source_goes_where_its_endpoint_says() {
        FeedsByEndpoint feeds = new FeedsByEndpoint(sockets, posted, polled);
        EventSource socket = source("ipc:///run/kv_cache_events");
        feeds.subscribe(socket);
        feeds.subscribe(asked);
        feeds.subscribe(source(EventEndpoint.POSTED)).close();
        assertEquals(List.of(socket), sockets.open);
        assertEquals(List.of(asked), polled.open);
    }

    @Test
    void where_several_gateways_share_events_no_engine_is_asked() {
        FeedsByEndpoint feeds = new FeedsByEndpoint(sockets, posted, null);
        IllegalStateException why =
                assertThrows(IllegalStateException.class, () -> feeds.subscribe(asked));
        assertTrue(why.getMessage().contains("one reader only"), why.getMessage());
        assertEquals(List.of(), sockets.open);
    }
}
