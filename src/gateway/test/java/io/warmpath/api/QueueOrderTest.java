package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Policies;
import io.warmpath.admission.PolicyClass;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * In which order waiting requests reach the engine. All arrive while one is in its prefill; what
 * clients say of their urgency stands in bodies and headers, as they write it.
 */
@ExtendWith(Leaks.class)
class QueueOrderTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Tokens of a request that need prefill, beside the 48 that are cached. */
    private static final int WORK = 52;

    private final Semaphore firstTokens = new Semaphore(0);
    private final List<RawClient> waiting = new ArrayList<>();
    private Gateway gateway;
    private StubEngine engine;

    private static PolicyClass policyClass(
            String name, QueuePolicy policy, long quantum, long max) {
        return new PolicyClass(
                name,
                name,
                "",
                policy,
                quantum,
                new PolicyClass.Threshold(0, false),
                max,
                PolicyClass.NO_LIMIT,
                PolicyClass.NO_LIMIT);
    }

    private void start(PolicyClass... classes) throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        Runnable::run,
                        new AdmissionOptions(
                                new Policies(classes[0].family(), List.of(), List.of(classes)),
                                Map.of(),
                                BusyThresholds.NONE,
                                8192,
                                Duration.ZERO,
                                529));
        gateway.tokens.ids = new int[48 + WORK];
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            if (firstTokens.tryAcquire(20, TimeUnit.SECONDS)) {
                                call.chunk(token("a"));
                                call.chunk(DONE);
                                call.lastChunk();
                            }
                        });
        gateway.serve(engine);
        send("first", "");
        await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
    }

    @AfterEach
    void stop() throws Exception {
        for (RawClient client : waiting) {
            client.close();
        }
        gateway.close();
        engine.close();
    }

    private RawClient send(String name, String nvext, String... headers) throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.sendPost(
                Gateway.CHAT,
                "{\"model\":\"m\",\"stream\":true,\"user\":\""
                        + name
                        + "\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
                        + (nvext.isEmpty() ? "" : ",\"nvext\":" + nvext)
                        + "}",
                headers);
        waiting.add(client);
        return client;
    }

    /** Returns when it waits. */
    private void queue(String name, String nvext, String... headers) throws Exception {
        int before = gateway.admission.waiting();
        send(name, nvext, headers);
        await().untilAsserted(() -> assertEquals(before + 1, gateway.admission.waiting()));
    }

    private static String hints(String hints) {
        return "{\"agent_hints\":{" + hints + "}}";
    }

    /** Lets everything run; the order in which it reached the engine. */
    private List<String> started() throws Exception {
        firstTokens.release(1_000);
        for (RawClient client : waiting) {
            assertEquals(200, client.readAnswer().status());
        }
        List<String> names = new ArrayList<>();
        for (StubEngine.Call call : engine.calls) {
            names.add(JSON.readTree(call.bodyText()).get("user").textValue());
        }
        assertEquals("first", names.removeFirst());
        return names;
    }

    @Test
    void priority_its_old_name_and_its_header_order_what_waits() throws Exception {
        start(policyClass("all", QueuePolicy.FCFS, 1_000, PolicyClass.NO_LIMIT));
        queue("plain", "");
        queue("low", hints("\"priority\":-5000"));
        queue("hint", hints("\"priority\":5000"));
        queue("old name", hints("\"latency_sensitivity\":7000.5"));
        queue("header", hints("\"priority\":-1"), "x-dynamo-request-priority: 9000");
        queue("later", "");
        assertEquals(List.of("header", "old name", "hint", "plain", "later", "low"), started());
    }

    @Test
    void strict_priority_goes_before_any_priority() throws Exception {
        start(policyClass("all", QueuePolicy.FCFS, 1_000, PolicyClass.NO_LIMIT));
        queue("urgent", hints("\"priority\":1000000"));
        queue("strict", hints("\"strict_priority\":1"));
        queue("strictest", "", "x-dynamo-request-strict-priority: 2");
        assertEquals(List.of("strictest", "strict", "urgent"), started());
    }

    @Test
    void with_wspt_little_work_goes_first_and_priority_multiplies() throws Exception {
        start(policyClass("all", QueuePolicy.WSPT, 1_000, PolicyClass.NO_LIMIT));
        gateway.tokens.ids = new int[48 + 1_000];
        queue("long", "");
        queue("long and wanted", hints("\"priority\":99"));
        gateway.tokens.ids = new int[48 + 20];
        queue("short", "");
        gateway.tokens.ids = new int[48 + 200];
        queue("middle", "");
        assertEquals(List.of("long and wanted", "short", "middle", "long"), started());
    }

    @Test
    void classes_take_turns_by_their_quanta() throws Exception {
        start(
                policyClass("chat", QueuePolicy.FCFS, 2 * WORK, PolicyClass.NO_LIMIT),
                policyClass("batch", QueuePolicy.FCFS, WORK, PolicyClass.NO_LIMIT));
        for (int i = 1; i <= 4; i++) {
            queue("b" + i, "", "x-dynamo-meta-policy-class: batch");
        }
        for (int i = 1; i <= 4; i++) {
            queue("c" + i, ""); // the default family is chat
        }
        assertEquals(List.of("c1", "c2", "b1", "c3", "c4", "b2", "b3", "b4"), started());
    }

    @Test
    void a_full_class_refuses_its_own_and_no_others() throws Exception {
        start(
                policyClass("chat", QueuePolicy.FCFS, 1_000, PolicyClass.NO_LIMIT),
                policyClass("batch", QueuePolicy.FCFS, 1_000, 1));
        queue("batch", "", "x-dynamo-meta-policy-class: batch");
        RawClient.Answer refused = gateway.post(Gateway.ASK, "x-dynamo-meta-policy-class: batch");
        assertEquals(529, refused.status());
        assertEquals("1", refused.header("retry-after"));
        queue("chat", "");
        queue("another", "");
        assertEquals(3, started().size());
    }
}
