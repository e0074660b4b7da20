package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class NatsNamesTest {
    private static final NatsNames NAMES = new NatsNames("My.NS", "vllm_Worker");

    @Test
    void a_stream_and_a_bucket_are_called_as_operators_of_older_routers_know_them() {
        assertEquals("namespace-my-ns-component-vllm-worker-kv-events", NAMES.stream());
        assertEquals("namespace-my_ns-component-vllm_worker-radix-bucket", NAMES.snapshotBucket());
        assertEquals("radix-state", NatsNames.SNAPSHOT);
    }

    @Test
    void events_lie_in_the_stream_and_questions_do_not() {
        String prefix = NAMES.streamSubjects().replace(">", "");
        assertTrue(NAMES.events(-1, 3).startsWith(prefix));
        assertTrue(NAMES.events(-1, 3).endsWith(".ffffffffffffffff.3"));
        for (String outside :
                List.of(
                        NAMES.replay(1, 0),
                        NAMES.relay(1, 0),
                        NAMES.replicas(),
                        NAMES.control("reset"))) {
            assertFalse(outside.startsWith(prefix), outside);
        }
        assertTrue(NAMES.relay(1, 0).startsWith(NAMES.relays().replace(">", "")));
    }

    @Test
    void every_name_is_one_that_a_server_takes() {
        for (String text : List.of("a b", "x*", "y>", "z.w", "Ä", "a/b\\c\t")) {
            String slug = NatsNames.slug(text);
            assertTrue(slug.matches("[a-z0-9_-]*"), slug);
        }
        assertEquals("router-gw_1", NatsNames.consumer("GW.1"));
    }

    @Test
    void an_empty_namespace_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> new NatsNames(" ", "backend"));
    }
}
