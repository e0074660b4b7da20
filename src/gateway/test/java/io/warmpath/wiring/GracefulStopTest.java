package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.runtime.RuntimeValue;
import io.quarkus.runtime.shutdown.ShutdownConfig;
import io.quarkus.runtime.shutdown.ShutdownListener;
import io.quarkus.runtime.shutdown.ShutdownRecorder;
import io.warmpath.api.connection.RawRequests;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is believed about how this version of Quarkus stops. */
class GracefulStopTest {
    private static final List<String> FIELDS =
            List.of("shutdownListeners", "shutdownConfig", "delayEnabled");

    private final List<Object> before = new ArrayList<>();

    @BeforeEach
    void keep() throws Exception {
        for (String name : FIELDS) {
            before.add(field(name).get(null));
        }
    }

    @AfterEach
    void restore() throws Exception {
        for (int i = 0; i < FIELDS.size(); i++) {
            field(FIELDS.get(i)).set(null, before.get(i));
        }
    }

    private static Field field(String name) throws Exception {
        Field field = ShutdownRecorder.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static ShutdownRecorder quarkus() {
        return new ShutdownRecorder(
                new RuntimeValue<>(
                        new ShutdownConfig() {
                            @Override
                            public Optional<Duration> timeout() {
                                return Optional.of(Duration.ofSeconds(10));
                            }

                            @Override
                            public Optional<Duration> delay() {
                                return Optional.empty();
                            }
                        }));
    }

    @Test
    void whoever_joins_while_the_word_is_passed_on_is_waited_for() throws Exception {
        RawRequests requests = new RawRequests();
        Set<String> steps = new TreeSet<>();
        ShutdownListener first =
                new ShutdownListener() {
                    @Override
                    public void preShutdown(ShutdownNotification done) {
                        steps.add("1 told");
                        assertTrue(GracefulStop.isPossible());
                        GracefulStop.waitFor(requests); // as the bean does, in the midst of it
                        done.done();
                    }

                    @Override
                    public void shutdown(ShutdownNotification done) {
                        steps.add("2 waited for");
                        done.done();
                    }
                };
        quarkus().setListeners(new ArrayList<>(List.of(first)), true);
        assertTrue(requests.enter());
        Thread answer =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    while (!requests.isClosed()) {
                                        Thread.onSpinWait();
                                    }
                                    synchronized (steps) {
                                        steps.add("3 answered");
                                    }
                                    requests.exit();
                                });
        ShutdownRecorder.runShutdown();
        synchronized (steps) {
            assertEquals(Set.of("1 told", "2 waited for", "3 answered"), steps);
        }
        answer.join();
        assertEquals(0, requests.running());
    }

    @Test
    void nobody_is_waited_for_when_nothing_runs() {
        quarkus().setListeners(new ArrayList<>(), false);
        RawRequests requests = new RawRequests();
        GracefulStop.waitFor(requests);
        ShutdownRecorder.runShutdown(); // it would be the ten seconds of its time-out
        assertTrue(requests.isClosed());
    }
}
