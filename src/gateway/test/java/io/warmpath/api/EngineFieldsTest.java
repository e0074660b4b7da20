package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import io.warmpath.access.Budgets;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.api.client.ClientGate;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.tls.EngineTls;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What acts on engines or on other requests does not come through from a client. */
@ParameterizedClass
@EnumSource(names = {"RAW", "PAST"})
class EngineFieldsTest {
    static final String CHAT = "/v1/chat/completions";
    private static final String REST =
            "\"model\":\"m\",\"max_tokens\":5,\"prompt\":\"a\",\"input\":\"a\","
                    + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";

    @Parameter EnginePath way;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(way);
        engine =
                new StubEngine(
                        call ->
                                call.json(
                                        200,
                                        "{\"id\":\"1\",\"choices\":[{\"index\":0,\"message\":"
                                                + "{\"role\":\"assistant\",\"content\":\"x\"},"
                                                + "\"finish_reason\":\"stop\"}]}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private RawClient.Answer ask(String path, String members, String... headers) throws Exception {
        return RawClient.post(
                gateway.port, path, "{" + members.replace('\'', '"') + "," + REST + "}", headers);
    }

    private void assertRefused(String field, RawClient.Answer answer) {
        assertEquals(400, answer.status(), () -> field + ": " + answer.body());
        JsonObject error = new JsonObject(answer.body()).getJsonObject("error");
        assertEquals(field, error.getString("param"));
        assertTrue(error.getString("message").contains(field), answer.body());
        assertEquals(0, engine.requests.get(), field);
    }

    /** What killed, hung or read out real engines, and what names others' requests and hosts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "kv_transfer_params|'kv_transfer_params':{'do_remote_prefill':true}",
                "kv_transfer_params|'kv_transfer_params':[{'do_remote_prefill':true}]",
                "kv_transfer_params|'kv_transfer_params':{}",
                "kv_transfer_params|'kv_transfer\\u005fparams':{'do_remote_prefill':true}",
                "kv_transfer_params|'kv_transfer_params':null,'kv_transfer_params':{'a':1}",
                "kv_transfer_params|'kv_transfer_params':{'a':1},'kv_transfer_params':null",
                "kv_transfer_params|'odd':[{'a':'\\ud800'}],'kv_transfer_params':{'a':1}",
                "ec_transfer_params|'ec_transfer_params':{'a':1}",
                "bootstrap_host|'bootstrap_host':'2.2.2.2'",
                "bootstrap_host|'bootstrap_host':['10.0.0.1','10.0.0.2']",
                "bootstrap_port|'bootstrap_port':8998",
                "bootstrap_room|'bootstrap_room':[1,2]",
                "bootstrap_room|'bootstrap_room':0",
                "bootstrap_pair_key|'bootstrap_pair_key':'k'",
                "decode_tp_size|'decode_tp_size':1",
                "disagg_prefill_dp_rank|'disagg_prefill_dp_rank':0",
                "disaggregated_params|'disaggregated_params':{'request_type':'context_only'}",
                "disagg_of_next_year|'disagg_of_next_year':false",
                "disagg_prefill_dp_rank|'\\u0064isagg_prefill_dp_rank':0",
                "kv_hints|'kv_hints':{}",
                "encoder_urls|'encoder_urls':['http://h']",
                "http_worker_ipc|'http_worker_ipc':'ipc:///x'",
                "rid|'rid':'a'",
                "rid|'rid':['a','b']",
                "session_params|'session_params':{'id':'s'}",
                "extra_key|'extra_key':'another'",
                "lora_path|'lora_path':'another'",
                "custom_logit_processor|'custom_logit_processor':'{}'",
                "logits_processors|'logits_processors':['os.system']",
                "vllm_xargs.kv_transfer_params|'vllm_xargs':{'kv_transfer_params':'x'}",
                "vllm_xargs.ec_transfer_params|'vllm_xargs':{'a':1,'ec_transfer\\u005fparams':1}",
                "vllm_xargs.kv_transfer_params|'vllm_xargs':{},"
                        + "'vllm\\u005fxargs':{'kv_transfer_params':'x'}",
            })
    void a_member_is_refused_by_its_name_and_says_what_to_do(String fieldAndMembers)
            throws Exception {
        int bar = fieldAndMembers.indexOf('|');
        String field = fieldAndMembers.substring(0, bar);
        String members = fieldAndMembers.substring(bar + 1);
        for (String path :
                new String[] {
                    CHAT, "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/audio/speech"
                }) {
            assertRefused(field, ask(path, members));
        }
        assertTrue(ask(CHAT, members).body().contains("--forward-hand-off"), "no next step");
    }

    @Test
    void anthropics_requests_are_no_way_round() throws Exception {
        for (String members :
                new String[] {
                    "'kv_transfer_params':{'do_remote_prefill':true}",
                    "'kv_transfer\\u005fparams':{'do_remote_prefill':true}"
                }) {
            RawClient.Answer answer = ask("/v1/messages", members);
            assertEquals(400, answer.status(), answer.body());
            assertTrue(answer.body().contains("kv_transfer_params"), answer.body());
            assertEquals(0, engine.requests.get());
        }
    }

    /** SGLang ends every request whose id begins with that of a response that is given up. */
    @Test
    void a_response_is_not_named_by_its_client() throws Exception {
        assertRefused("request_id", ask("/v1/responses", "'request_id':'resp_'"));
        assertRefused("request_id", ask("/v1/responses", "'request\\u005fid':'resp_'"));
        assertEquals(200, ask(CHAT, "'request_id':'mine'").status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x-override-rid",
                "X-Override-Bootstrap-Host",
                "x-override-bootstrap-port",
                "x-override-bootstrap-room",
                "x-override-conversation-id",
                "x-override-routed-dp-rank",
                "x-override-disagg-prefill-dp-rank",
                "x-override-priority",
                "X-Override-Of-Next-Year",
                "x-override-",
                "x-prefiller-host-port",
                "x-encoder-hosts-ports",
                "x-data-parallel-host-port",
                "X-Vllm-Priority",
            })
    void a_header_is_refused_by_its_name(String header) throws Exception {
        for (String path : new String[] {CHAT, "/v1/responses", "/v1/embeddings"}) {
            RawClient.Answer answer = ask(path, "'x':1", header + ": 1");
            assertEquals(400, answer.status(), answer.body());
            JsonObject error = new JsonObject(answer.body()).getJsonObject("error");
            assertEquals(header.toLowerCase(Locale.ROOT), error.getString("param"));
            assertEquals(0, engine.requests.get());
        }
    }

    private RawClient.Answer form(String disposition, String value) throws Exception {
        byte[] body =
                ("--b\r\n"
                                + "Content-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b\r\n"
                                + "Content-Type: text/plain\r\ncontent-disposition: "
                                + disposition
                                + "\r\n\r\n"
                                + value
                                + "\r\n--b--\r\n")
                        .getBytes(StandardCharsets.UTF_8);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: g\r\nContent-Type:"
                            + " multipart/form-data; boundary=b\r\nContent-Length: "
                            + body.length
                            + "\r\n\r\n");
            client.socket.getOutputStream().write(body);
            return client.readAnswer();
        }
    }

    /** vLLM reads this field of a form as JSON, and takes the hand-off out of it. */
    @Test
    void a_form_is_no_way_round() throws Exception {
        assertRefused("kv_transfer_params", form("form-data; name=\"kv_transfer_params\"", "{}"));
        for (String disposition :
                new String[] {
                    "form-data; name=\"vllm_xargs\"",
                    "form-data; name=vllm_xargs",
                    "Form-Data;NAME = \"vllm_xargs\"; x=y",
                    "form-data; filename=\"name\"; name=\"vllm_xargs\"",
                }) {
            assertRefused(
                    "vllm_xargs.kv_transfer_params",
                    form(disposition, "{\"a\":1,\"kv_transfer\\u005fparams\":\"x\"}"));
        }
        // A name in a form that readers read differently is nobody's.
        for (String disposition :
                new String[] {
                    "form-data; name*=utf-8''vllm%5fxargs",
                    "form-data; name=\"vllm\\_xargs\"",
                    "form-data; name=\"a\"; name=\"vllm_xargs\"",
                    "form-data; name*0=vllm; name*1=_xargs",
                    "form-data;\r\n name=\"vllm_xargs\"",
                    "form-data; x=\"; name=a\"; name=\"vllm_xargs",
                    "form-data; name=\"b\"\r\nContent-Disposition: form-data; name=\"vllm_xargs\"",
                }) {
            RawClient.Answer answer = form(disposition, "{\"kv_transfer_params\":\"x\"}");
            assertEquals(400, answer.status(), disposition);
            assertEquals(0, engine.requests.get(), disposition);
        }
        assertEquals(200, form("form-data; name=\"vllm_xargs\"", "{\"top\":1}").status());
        assertEquals(200, form("form-data; name=\"x\"; filename*=utf-8''%41", "f").status());
        // Python reads this as JSON, too.
        String odd = "{\"a\":NaN,\"kv_transfer_params\":\"x\"}";
        assertEquals(400, form("form-data; name=\"vllm_xargs\"", odd).status());
        RawClient.Answer twice = form("form-data; name=\"model\"", "another");
        assertTrue(twice.body().contains("`model` is given twice"), twice.body());
    }

    /** The control: what only looks like one of them goes on as it came. */
    @Test
    void other_members_are_passed_on() throws Exception {
        for (String members :
                new String[] {
                    "'kv_transfer_params':null,'rid':null,'disagg_x':null,'vllm_xargs':null",
                    "'vllm_xargs':{'top':1,'kv_transfer_params':null}",
                    "'kv_transfer_param':{},'bootstrap':1,'ri':1,'disag':1,'xdisagg':1",
                    "'metadata':{'kv_transfer_params':{'a':1},'rid':'a'}",
                    "'session_id':'s','user':'u','priority':1"
                }) {
            for (String path : new String[] {CHAT, "/v1/responses", "/v1/embeddings"}) {
                assertEquals(200, ask(path, members).status(), members);
                assertEquals(
                        "{" + members.replace('\'', '"') + "," + REST + "}",
                        engine.calls.get(engine.calls.size() - 1).bodyText());
            }
        }
        assertEquals(
                200,
                ask(CHAT, "'x':1", "x-prefiller: a", "x-override: 1", "x-session-id: s").status());
    }

    private static final String HAND_OFF =
            "{\"bootstrap_host\":\"10.0.0.1\",\"bootstrap_room\":7," + REST + "}";

    @Test
    void trusted_front_ends_may_send_them() throws Exception {
        KeyRing ring =
                new KeyRing(
                        List.of(key("front", true), key("other", false)),
                        new Budgets(10),
                        Instant::now,
                        System::nanoTime);
        gateway.close();
        gateway = new Gateway(way, EngineTls.standard(), ClientGate.of(ring, false));
        gateway.serve(engine);
        for (String path : new String[] {CHAT, "/v1/embeddings"}) {
            RawClient.Answer other =
                    RawClient.post(gateway.port, path, HAND_OFF, "x-api-key: key-other");
            assertRefused("bootstrap_room", other);
        }
        for (String path : new String[] {CHAT, "/v1/embeddings"}) {
            RawClient.Answer front =
                    RawClient.post(
                            gateway.port,
                            path,
                            HAND_OFF,
                            "x-api-key: key-front",
                            "x-override-priority: 1");
            assertEquals(200, front.status(), front.body());
            StubEngine.Call last = engine.calls.get(engine.calls.size() - 1);
            assertEquals(HAND_OFF, last.bodyText());
            assertEquals("1", last.header("x-override-priority"));
        }
        RawClient.Answer claude =
                RawClient.post(gateway.port, "/v1/messages", HAND_OFF, "x-api-key: key-front");
        assertEquals(200, claude.status(), claude.body());
        assertTrue(engine.calls.get(2).bodyText().contains("\"bootstrap_room\":7"));
    }

    private static KeyRecord key(String name, boolean handOff) {
        Grant grant = new Grant(name, "", false, List.of(), 0, 0, "", 1, false, handOff, false);
        return new KeyRecord(KeyHash.of("key-" + name), grant, null);
    }

    @Test
    void a_gateway_for_front_ends_alone_may_take_them_from_everybody() throws Exception {
        GatewayOptions open = Options.of(o -> o.forwardHandOff = true);
        gateway.close();
        gateway = new Gateway(way, open, UpstreamOptions.defaults(), Runnable::run);
        gateway.serve(engine);
        for (String path : new String[] {CHAT, "/v1/responses", "/v1/messages"}) {
            assertEquals(200, RawClient.post(gateway.port, path, HAND_OFF).status(), path);
        }
        assertEquals(3, engine.requests.get());
    }
}
