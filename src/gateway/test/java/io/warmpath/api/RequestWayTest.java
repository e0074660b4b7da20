package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How many classes of the {@code gateway} rooms one plain chat passes, kept from rising. The room
 * README of {@code gateway.flow} says what is counted.
 */
@Tag("slow")
class RequestWayTest {
    /** Lower it with each class that leaves the way. */
    private static final int MOST = 43;

    private static final String ROOMS = "io.warmpath.gateway";

    private static final String JSON =
            "{\"id\":\"c\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
                    + "{\"role\":\"assistant\",\"content\":\"Hello\"},\"finish_reason\":\"stop\"}],"
                    + "\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":1,\"total_tokens\":41}}";

    @Test
    void a_plain_chat_passes_no_more_classes_than_it_did() throws Exception {
        Set<String> way = way(Gateway.ASK_WHOLE);
        assertTrue(
                way.contains(ROOMS + ".flow.Exchange") && way.contains(ROOMS + ".plan.Planner"),
                () -> "the request was not recorded: " + way);
        assertEquals(MOST, way.size(), () -> "classes on a plain chat's way: " + list(way));
    }

    @Test
    void a_request_that_wants_more_passes_more_classes() throws Exception {
        Set<String> way = way(Gateway.ASK_WHOLE);
        Set<String> more = way(Gateway.ASK);
        more.removeAll(way);
        assertTrue(more.contains(ROOMS + ".answer.Holdback"), () -> "a stream adds: " + list(more));
    }

    /** The first request of a gateway that was just started. */
    private static Set<String> way(String json) throws Exception {
        boolean stream = json.equals(Gateway.ASK);
        String body = stream ? "data: " + JSON + "\n\ndata: [DONE]\n\n" : JSON;
        byte[] answer =
                "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
                        .formatted(
                                stream ? "text/event-stream" : "application/json",
                                body.length(),
                                body)
                        .getBytes(StandardCharsets.UTF_8);
        Map<String, String> counted = counted();
        try (Gateway gateway = new Gateway(EnginePath.PAST);
                StubEngine engine = new StubEngine(call -> call.send(answer));
                Recording recording = new Recording()) {
            gateway.fleet.workers(
                    List.of(
                            Gateway.worker(
                                    0, engine.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
            recording
                    .enable("jdk.MethodTrace")
                    .with("filter", String.join(";", counted.keySet()))
                    .with("threshold", "0 ns")
                    .with("stackTrace", "false");
            recording.start();
            assertEquals(200, gateway.post(json).status());
            recording.stop();
            return run(recording).stream()
                    .map(counted::get)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static Set<String> run(Recording recording) throws Exception {
        Path file = Files.createTempFile("way", ".jfr");
        try {
            recording.dump(file);
            Set<String> types = new TreeSet<>();
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                RecordedMethod method = event.getValue("method");
                types.add(method.getType().getName());
            }
            return types;
        } finally {
            Files.delete(file);
        }
    }

    /** Classes whose methods are recorded, and the file that each is read in. */
    private static Map<String, String> counted() {
        Map<String, String> counted = new TreeMap<>();
        for (JavaClass type :
                new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages(ROOMS)) {
            if (!type.isInterface() && !type.isEnum() && !type.isRecord()) {
                JavaClass top = type;
                while (top.getEnclosingClass().isPresent()) {
                    top = top.getEnclosingClass().get();
                }
                counted.put(type.getName(), top.getName());
            }
        }
        return counted;
    }

    private static String list(Set<String> classes) {
        return classes.size()
                + classes.stream()
                        .map(c -> "\n  " + c.substring(ROOMS.length() + 1))
                        .collect(Collectors.joining());
    }
}
