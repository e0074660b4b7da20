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
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is believed about how this version of Quarkus stops. */
class GracefulStopTest {
    private static final List<String> FIELDS =
            List.of("shutdownListeners", "shutdownConfig", "delayEnabled");

    private static final Duration GRACE = Duration.ofSeconds(10);

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
        Set<String> steps = Collections.synchronizedSet(new LinkedHashSet<>());
        ShutdownListener first =
                new ShutdownListener() {
                    @Override
                    public void preShutdown(ShutdownNotification done) {
                        steps.add("1 told");
                        assertTrue(GracefulStop.isPossible());
                        // As the bean does, in the midst of it.
                        GracefulStop.waitFor(List.of(requests), GRACE, letGo(steps));
                        done.done();
                    }

                    @Override
                    public void shutdown(ShutdownNotification done) {
                        steps.add("2 waited for");
                        done.done();
                        done.done(); // as the runtime does when late requests end
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
            assertEquals(
                    List.of("1 told", "2 waited for", "3 answered", "4 clients let go"),
                    List.copyOf(steps));
        }
        answer.join();
        assertEquals(0, requests.running());
    }

    @Test
    void nobody_is_waited_for_when_nothing_runs() {
        quarkus().setListeners(new ArrayList<>(), false);
        RawRequests requests = new RawRequests();
        Set<String> steps = new LinkedHashSet<>();
        GracefulStop.waitFor(List.of(requests), GRACE, letGo(steps));
        ShutdownRecorder.runShutdown(); // it would be the ten seconds of its time-out
        assertTrue(requests.isClosed());
        assertEquals(Set.of("4 clients let go"), steps);
    }

    @Test
    void clients_are_let_go_before_the_grace_is_over_whatever_runs() {
        quarkus().setListeners(new ArrayList<>(), false);
        RawRequests requests = new RawRequests();
        assertTrue(requests.enter());
        Set<String> steps = new LinkedHashSet<>();
        GracefulStop.waitFor(List.of(requests), Duration.ofMillis(40), letGo(steps));
        ShutdownRecorder.runShutdown(); // likewise
        assertEquals(Set.of("4 clients let go"), steps);
        requests.exit();
        assertEquals(1, steps.size());
    }

    @Test
    void the_last_call_is_a_second_or_a_quarter_of_the_grace() {
        assertEquals(Duration.ofSeconds(1), GracefulStop.lastCall(Duration.ofSeconds(30)));
        assertEquals(Duration.ofMillis(500), GracefulStop.lastCall(Duration.ofSeconds(2)));
        assertEquals(Duration.ZERO, GracefulStop.lastCall(Duration.ZERO));
    }

    private static GracefulStop.Clients letGo(Set<String> steps) {
        return (quiet, gone) -> {
            assertTrue(steps.add("4 clients let go"), "once only");
            gone.run();
        };
    }
}
