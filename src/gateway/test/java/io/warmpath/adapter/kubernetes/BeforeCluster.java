package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A source before a cluster, and what it has told. */
abstract class BeforeCluster {
    static final Duration SETTLE = Duration.ofMillis(200);
    static final Reflector.Timing QUICK =
            new Reflector.Timing(
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(1),
                    Duration.ofMillis(20),
                    Duration.ofMillis(200));

    Cluster cluster;
    KubernetesSource source;
    final Told told = new Told();

    abstract Cluster open();

    @BeforeEach
    void begin() {
        cluster = open();
    }

    @AfterEach
    void end() {
        if (source != null) {
            source.close();
        }
        cluster.close();
    }

    void start(KubernetesOptions options) {
        source = new KubernetesSource(options, QUICK, SETTLE, new Random(1));
        source.start(told);
    }

    void states(Map<String, String> wanted) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertEquals(wanted, told.states()));
    }
}
