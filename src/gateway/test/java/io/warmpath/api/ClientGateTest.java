package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import io.warmpath.access.Authenticator;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.access.Verdict;
import io.warmpath.api.client.ClientGate;
import io.warmpath.upstream.tls.EngineKeys;
import io.warmpath.upstream.tls.EngineTls;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients' keys through the whole surface: who gets in, as whom, how often. */
@ParameterizedClass
@EnumSource(names = {"RAW", "PAST"})
class ClientGateTest {
    @Parameter EnginePath way;

    private static final String ALL = "Authorization: Bearer key-all";
    private static final String TENANT = "Authorization: Bearer key-tenant";
    private static final String FRONT = "x-api-key: key-front";
    private static final String OTHER_MODEL = "Authorization: Bearer key-other-model";
    private static final String LIMITED = "Authorization: Bearer key-limited";
    private static final String TOKENS = "Authorization: Bearer key-tokens";
    private static final String NOT_DIRECT = "Authorization: Bearer key-not-direct";
    private static final String MESSAGES = "/v1/messages";
    private static final String ASK_CLAUDE =
            "{\"model\":\"m\",\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";

    private final AtomicLong nanos = new AtomicLong();
    private final BlockingQueue<StubEngine.Call> calls = new LinkedBlockingQueue<>();
    private Gateway gateway;
    private StubEngine engine;

    private static KeyRecord key(String name, Grant grant) {
        return new KeyRecord(KeyHash.of("key-" + name), grant, null);
    }

    private KeyRing ring() {
        return new KeyRing(
                List.of(
                        key(
                                "all",
                                new Grant(
                                        "all", "", false, List.of(), 0, 0, "", 1, true, false,
                                        false)),
                        key(
                                "tenant",
                                new Grant(
                                        "t",
                                        "acme",
                                        false,
                                        List.of("m"),
                                        0,
                                        0,
                                        "",
                                        1,
                                        false,
                                        false,
                                        false)),
                        key(
                                "front",
                                new Grant(
                                        "f", "", true, List.of(), 0, 0, "", 1, false, false,
                                        false)),
                        key(
                                "other-model",
                                new Grant(
                                        "o",
                                        "",
                                        false,
                                        List.of("x-*"),
                                        0,
                                        0,
                                        "",
                                        1,
                                        true,
                                        false,
                                        false)),
                        key(
                                "limited",
                                new Grant(
                                        "l", "", false, List.of(), 2, 0, "", 1, false, false,
                                        false)),
                        key(
                                "tokens",
                                new Grant(
                                        "k", "", false, List.of(), 0, 1000, "", 1, false, false,
                                        false)),
                        key(
                                "explain",
                                new Grant(
                                        "e", "", false, List.of(), 0, 0, "", 1, false, false,
                                        true)),
                        key("not-direct", Grant.all("n"))),
                new Budgets(10),
                Instant::now,
                nanos::get);
    }

    private void start(EnginePath path, EngineTls tls, ClientGate gate) throws Exception {
        gateway = new Gateway(path, tls, gate);
        engine =
                new StubEngine(
                        call -> {
                            calls.add(call);
                            call.json(
                                    200,
                                    "{\"id\":\"1\",\"usage\":{\"prompt_tokens\":600,"
                                            + "\"completion_tokens\":500}}");
                        });
        gateway.serve(engine);
    }

    private void start() throws Exception {
        start(way, EngineTls.standard(), ClientGate.of(ring(), false));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private RawClient.Answer ask(String... headers) throws Exception {
        return gateway.post(Gateway.ASK_WHOLE, headers);
    }

    private StubEngine.Call call() throws Exception {
        return calls.poll(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x-nothing: 1",
                "Authorization: Bearer wrong",
                "Authorization: Basic a2V5LWFsbA==",
                "Authorization: Bearer",
                "Authorization: key-all",
                "x-api-key: wrong",
                "x-api-key:"
            })
    void without_a_valid_key_there_is_401_in_openais_shape(String header) throws Exception {
        start();
        RawClient.Answer answer = ask(header);
        assertEquals(401, answer.status());
        JsonObject error = new JsonObject(answer.body()).getJsonObject("error");
        assertEquals("invalid_api_key", error.getString("code"));
        assertEquals("invalid_request_error", error.getString("type"));
        assertEquals("Bearer", answer.header("www-authenticate"));
        assertFalse(answer.body().contains("wrong"), answer.body());
        assertNull(calls.poll());
    }

    @Test
    void anthropics_clients_get_their_own_shape() throws Exception {
        start();
        RawClient.Answer answer = RawClient.post(gateway.port, MESSAGES, ASK_CLAUDE);
        assertEquals(401, answer.status());
        JsonObject body = new JsonObject(answer.body());
        assertEquals("error", body.getString("type"));
        assertEquals("authentication_error", body.getJsonObject("error").getString("type"));
        RawClient.Answer known =
                RawClient.post(gateway.port, MESSAGES, ASK_CLAUDE, "x-api-key: key-all");
        assertTrue(call().head.startsWith("POST /v1/chat/completions"), known::body);
    }

    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void a_valid_key_opens_and_goes_no_further(EnginePath path) throws Exception {
        start(path, EngineTls.standard(), ClientGate.of(ring(), false));
        assertEquals(200, ask(ALL, "x-api-key: key-all").status());
        StubEngine.Call call = call();
        assertNull(call.header("authorization"));
        assertNull(call.header("x-api-key"));
        assertFalse(call.head.contains("key-all"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ALL + "\r\n" + ALL,
                ALL + "\r\nAuthorization: Bearer wrong",
                "Authorization: Bearer wrong\r\n" + ALL,
                ALL + "\r\nAuthorization: Basic a2V5LWFsbA==",
                ALL + "\r\nx-api-key: key-front",
                "x-api-key: wrong\r\n" + ALL,
                FRONT + "\r\n" + FRONT
            })
    void two_credentials_are_none(String headers) throws Exception {
        start();
        RawClient.Answer answer = ask(headers);
        assertEquals(400, answer.status());
        assertTrue(answer.body().contains("two credentials"), answer::body);
        assertNull(calls.poll());
        gateway.close();
        engine.close();
        start(way, EngineTls.standard(), ClientGate.OPEN);
        assertEquals(
                headers.indexOf("Auth") == headers.lastIndexOf("Auth") ? 200 : 400,
                ask(headers).status());
    }

    @Test
    void why_a_worker_was_chosen_is_told_to_those_who_may_know() throws Exception {
        start();
        String why = "x-warmpath-explain: 1";
        assertNull(ask(ALL, why).header("x-warmpath-worker"));
        RawClient.Answer told = ask("x-api-key: key-explain", why);
        assertEquals(200, told.status());
        assertTrue(told.header("x-warmpath-worker") != null, told::head);
        assertNull(ask("x-api-key: key-explain").header("x-warmpath-worker"));
        String stream = Gateway.ASK_WHOLE.replace("{\"model\"", "{\"stream\":true,\"model\"");
        assertFalse(gateway.post(stream, ALL, why).head().contains("x-warmpath"));
    }

    @Test
    void it_goes_further_where_the_operator_wants_that() throws Exception {
        start(way, EngineTls.standard(), ClientGate.of(ring(), true));
        assertEquals(200, ask(ALL).status());
        assertEquals("Bearer key-all", call().header("authorization"));
    }

    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void an_engine_gets_its_own_key_instead(EnginePath path) throws Exception {
        EngineKeys keys = EngineKeys.of(Optional.of("for-others"), "");
        EngineTls tls = new EngineTls(null, null, null, true, keys);
        start(path, tls, ClientGate.OPEN);
        assertEquals(200, ask("Authorization: Bearer the-clients").status());
        assertEquals("Bearer for-others", call().header("authorization"));
        keys.replace(
                Optional.of("for-others"),
                "# mine\n127.0.0.1:" + engine.url().getPort() + " for-it\n\n");
        assertEquals(200, ask().status());
        assertEquals("Bearer for-it", call().header("authorization"));
    }

    @Test
    void requests_are_of_their_keys_tenant_whatever_they_say() throws Exception {
        start();
        assertEquals(200, ask(TENANT).status());
        assertEquals("acme", salt(call()));
        String salted = Gateway.ASK_WHOLE.replace("{\"model\"", "{\"cache_salt\":\"s\",\"model\"");
        assertEquals(200, gateway.post(salted, TENANT).status());
        assertEquals("acme:s", salt(call()));
        assertEquals(200, ask(TENANT, "x-tenant-id: acme").status());
        assertEquals("acme", salt(call()));
        RawClient.Answer refused = ask(TENANT, "x-tenant-id: other");
        assertEquals(403, refused.status());
        assertTrue(refused.body().contains("x-tenant-id"), refused::body);
        assertEquals(200, gateway.post(salted, ALL).status());
        assertEquals(":s", salt(call()), "not the tenant s");
    }

    @Test
    void a_key_of_a_front_end_may_name_tenants() throws Exception {
        start();
        assertEquals(200, ask(FRONT, "x-tenant-id: one").status());
        StubEngine.Call call = call();
        assertEquals("one", salt(call));
        assertNull(call.header("x-tenant-id"));
        assertEquals(400, ask(FRONT, "x-tenant-id: one:two").status());
    }

    private static String salt(StubEngine.Call call) {
        return new JsonObject(call.bodyText()).getString("cache_salt");
    }

    @Test
    void two_keys_on_one_connection_stay_two_clients() throws Exception {
        start();
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 4; i++) { // all sent before the first answer is read
                client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE, i % 2 == 0 ? TENANT : ALL);
            }
            List<String> salts = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                assertEquals(200, client.readAnswer().status());
                salts.add(salt(call()));
            }
            assertEquals(Arrays.asList("acme", null, "acme", null), salts);
        }
    }

    @Test
    void a_model_that_a_key_may_not_use_does_not_exist_for_it() throws Exception {
        start();
        RawClient.Answer answer = ask(OTHER_MODEL);
        assertEquals(404, answer.status());
        assertTrue(answer.body().contains("model_not_found"), answer::body);
        assertEquals(
                404,
                RawClient.post(gateway.port, "/router/best_worker", Gateway.ASK_WHOLE, OTHER_MODEL)
                        .status());
        assertEquals(
                404,
                RawClient.post(
                                gateway.port,
                                "/tokenize",
                                "{\"model\":\"m\",\"prompt\":\"x\"}",
                                OTHER_MODEL)
                        .status());
        assertEquals(0, models(OTHER_MODEL));
        assertEquals(1, models(ALL));
        assertEquals(404, model(OTHER_MODEL));
        assertEquals(200, model(ALL));
        assertNull(calls.poll());
    }

    private int models(String header) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n");
            return new JsonObject(client.readAnswer().body()).getJsonArray("data").size();
        }
    }

    private int model(String header) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("GET /v1/models/m HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n");
            return client.readAnswer().status();
        }
    }

    @Test
    void the_direct_api_wants_a_key_that_says_so() throws Exception {
        start();
        String path = "/router/reservations/1";
        assertEquals(403, delete(path, NOT_DIRECT));
        assertEquals(404, delete(path, ALL));
    }

    private int delete(String path, String header) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("DELETE " + path + " HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n");
            return client.readAnswer().status();
        }
    }

    @Test
    void a_used_up_limit_of_requests_is_429_and_said_in_headers() throws Exception {
        start();
        RawClient.Answer first = ask(LIMITED);
        assertEquals(200, first.status());
        assertEquals("2", first.header("x-ratelimit-limit-requests"));
        assertEquals("1", first.header("x-ratelimit-remaining-requests"));
        assertEquals("30s", first.header("x-ratelimit-reset-requests"));
        assertNull(first.header("x-ratelimit-limit-tokens"));
        assertEquals(200, ask(LIMITED).status());
        RawClient.Answer third = ask(LIMITED);
        assertEquals(429, third.status());
        assertEquals("30", third.header("retry-after"));
        assertEquals("0", third.header("x-ratelimit-remaining-requests"));
        JsonObject error = new JsonObject(third.body()).getJsonObject("error");
        assertEquals("rate_limit_exceeded", error.getString("code"));
        assertEquals("requests", error.getString("type"));
        assertEquals(200, ask(ALL).status(), "others are not held up");
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
        assertEquals(200, ask(LIMITED).status());
    }

    @Test
    void tokens_are_guessed_first_and_corrected_by_what_the_engine_counted() throws Exception {
        start();
        RawClient.Answer first = ask(TOKENS);
        assertEquals(200, first.status());
        long guessed = Gateway.ASK_WHOLE.length() / 4;
        assertEquals(Long.toString(1000 - guessed), first.header("x-ratelimit-remaining-tokens"));
        // 1100 were used: 100 of debt, and a request needs some.
        RawClient.Answer second = ask(TOKENS);
        assertEquals(429, second.status());
        assertEquals(
                "tokens", new JsonObject(second.body()).getJsonObject("error").getString("type"));
        assertEquals("0", second.header("x-ratelimit-remaining-tokens"));
        long seconds = (long) Math.ceil((100 + guessed) * 60 / 1000.0);
        assertEquals(Long.toString(seconds), second.header("retry-after"));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        assertEquals(200, ask(TOKENS).status());
    }

    @Test
    void a_request_that_no_engine_took_costs_no_tokens() throws Exception {
        start();
        for (int i = 0; i < 200; i++) {
            assertEquals(400, gateway.post("{\"model\":7,     }", TOKENS).status());
        }
        assertEquals(200, ask(TOKENS).status());
    }

    @Test
    void a_verdict_that_comes_later_is_waited_for_without_the_event_loop() throws Exception {
        CompletableFuture<Verdict> verdict = new CompletableFuture<>();
        Caller caller = new Caller(Grant.all("late"), new Budgets(1), nanos::get);
        Authenticator clients = key -> key.equals("later") ? new Verdict.Later(verdict) : caller;
        start(way, EngineTls.standard(), ClientGate.of(clients, false));
        try (RawClient waiting = new RawClient(gateway.port)) {
            waiting.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE, "x-api-key: later");
            for (int i = 0; i < 8; i++) { // some of them on its event loop
                assertEquals(200, ask("x-api-key: now").status());
            }
            verdict.complete(caller);
            assertEquals(200, waiting.readAnswer().status());
        }
    }

    @Test
    void a_client_that_leaves_before_its_verdict_leaves_nothing_behind() throws Exception {
        CompletableFuture<Verdict> verdict = new CompletableFuture<>();
        Caller caller = new Caller(Grant.all("late"), new Budgets(1), nanos::get);
        Authenticator clients = key -> key.equals("later") ? new Verdict.Later(verdict) : caller;
        start(way, EngineTls.standard(), ClientGate.of(clients, false));
        RawClient waiting = new RawClient(gateway.port);
        waiting.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE, "x-api-key: later");
        assertEquals(200, ask("x-api-key: now").status());
        call();
        waiting.reset();
        await().until(() -> gateway.connections.get() == 0);
        verdict.complete(caller);
        assertEquals(200, ask("x-api-key: now").status());
        call();
        assertNull(calls.poll(), "nothing was sent for it");
    }

    @Test
    void a_refused_upload_is_told_so_before_it_is_complete() throws Exception {
        start();
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
                            + "content-length: 60000000\r\n\r\n{");
            assertEquals(401, client.readAnswer().status());
        }
    }
}
