package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * The whole gateway as the controller of LMCache's workers: the recorded ones say what they said,
 * over sockets, and its look-ups find what their caches held.
 */
@Timeout(120)
@Tag("slow")
class LmcacheGatewayTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final String RECORDING = "/lmcache/lmcache-0.5.6-vllm-0.32.0-sha256_cbor.jsonl";

    private static List<JsonNode> recording() throws Exception {
        List<JsonNode> lines = new ArrayList<>();
        try (InputStream in = LmcacheGatewayTest.class.getResourceAsStream(RECORDING)) {
            for (String line :
                    new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                lines.add(JSON.readTree(line));
            }
        }
        return lines;
    }

    private static int freePort() throws Exception {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        }
    }

    private static String lmcache(String instance) {
        return "{\"instance_id\":\""
                + instance
                + "\",\"chunk_size\":32,\"hash_algorithm\":\"sha256_cbor\",\"hash_seed\":\"0\"}";
    }

    @Test
    void look_ups_find_what_lmcaches_workers_hold() throws Exception {
        int pull = freePort();
        int reply = freePort();
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.shared-cache.type", "lmcache");
        settings.put("warmpath.shared-cache.deadline", "1s");
        settings.put("warmpath.shared-cache.lmcache-pull", "tcp://127.0.0.1:" + pull);
        settings.put("warmpath.shared-cache.lmcache-reply", "tcp://127.0.0.1:" + reply);
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimEngine a = SimEngine.start(SimOptions.builder().build(), tokenizer);
                SimEngine b = SimEngine.start(SimOptions.builder().build(), tokenizer);
                ZContext context = new ZContext()) {
            settings.put("warmpath.workers[0].url", a.url().toString());
            settings.put("warmpath.workers[0].lmcache", lmcache("engine-a"));
            settings.put("warmpath.workers[1].url", b.url().toString());
            settings.put("warmpath.workers[1].lmcache", lmcache("engine-b"));
            SimGateway gateway = SimGateway.start(settings);
            try {
                replay(gateway, context, pull, reply);
            } finally {
                gateway.close();
            }
        }
    }

    private static void replay(SimGateway gateway, ZContext context, int pull, int reply)
            throws Exception {
        ZMQ.Socket push = context.createSocket(SocketType.PUSH);
        push.connect("tcp://127.0.0.1:" + pull);
        ZMQ.Socket ask = context.createSocket(SocketType.DEALER);
        ask.setReceiveTimeOut(10_000);
        ask.connect("tcp://127.0.0.1:" + reply);
        int equal = 0;
        for (JsonNode line : recording()) {
            if (line.has("pushed")) {
                ZMsg out = new ZMsg();
                line.get("pushed").forEach(f -> out.add(HEX.parseHex(f.asText())));
                out.send(push);
            } else if (line.has("asked")) {
                ZMsg out = new ZMsg();
                line.get("asked").forEach(f -> out.add(HEX.parseHex(f.asText())));
                out.send(ask);
                ZMsg answer = ZMsg.recvMsg(ask);
                assertNotNull(answer);
                assertEquals(2, answer.size());
                String said = new String(answer.getLast().getData(), StandardCharsets.ISO_8859_1);
                if (line.get("asked").get(1).asText().contains("52656769737465724d7367")) {
                    assertTrue(said.contains("heartbeat_url"), said);
                    assertTrue(said.endsWith("127.0.0.1:" + reply), said);
                }
            } else if (line.has("state") && line.get("state").size() == 3) {
                for (JsonNode prompt : line.get("prompts")) {
                    equal += found(gateway, prompt);
                }
            }
        }
        assertEquals(2 * 3 * 11, equal);
        push.send("no message");
        await().until(
                        () ->
                                gateway.meters
                                                .get("warmpath.lmcache.messages.bad")
                                                .functionCounter()
                                                .count()
                                        == 1);
        ZMsg strange = new ZMsg();
        strange.add(new byte[0]);
        strange.add(new byte[] {1, 2});
        strange.send(ask);
        ZMsg refused = ZMsg.recvMsg(ask);
        assertNotNull(refused);
        assertArrayEquals(new byte[0], refused.getFirst().getData());
        assertTrue(
                new String(refused.getLast().getData(), StandardCharsets.ISO_8859_1)
                        .contains("ErrorMsg"));
    }

    /** Instances of whose chunks of this prompt the gateway knows what the caches hold. */
    private static int found(SimGateway gateway, JsonNode prompt) {
        List<Integer> ids = new ArrayList<>();
        prompt.get("ids").forEach(id -> ids.add(id.asInt()));
        ids.add(7);
        Map<String, Integer> expected = new HashMap<>();
        prompt.get("runs")
                .properties()
                .forEach(r -> expected.put(r.getKey(), 2 * r.getValue().asInt()));
        await().untilAsserted(
                        () -> {
                            JsonNode said =
                                    JSON.readTree(
                                            gateway.post(
                                                            "/router/explain",
                                                            "{\"token_ids\":" + ids + "}")
                                                    .body());
                            JsonNode decision = said.has("decision") ? said.get("decision") : said;
                            Map<String, Integer> blocks = new HashMap<>();
                            for (JsonNode pool : decision.path("shared_cache")) {
                                blocks.put(
                                        pool.path("pool").asText(),
                                        pool.path("hit_blocks").asInt(-1));
                            }
                            assertEquals(expected, blocks, said.toString());
                        });
        return expected.size();
    }
}
