package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.BodyEditor;
import io.warmpath.gateway.request.BodyEdits;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bodies made of real members, changed and cut at random: what the quick reader reads is what
 * Jackson reads, and a splice is what an edit of the tree is.
 *
 * <p>{@code -Dtest.fuzz=N} reads N bodies; {@code -Dwarmpath.test.seed=S} repeats one.
 */
@Tag("slow")
class RequestFuzzTest {
    private static final int BODIES = Integer.getInteger("test.fuzz", 40_000);
    private static final Long REPLAY = Long.getLong("warmpath.test.seed");
    private static final MultiMap NO_HEADERS = MultiMap.caseInsensitiveMultiMap();
    private static final ObjectMapper TREES =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private static final String[] TEXTS = {
        "",
        "hi",
        "a longer text without anything in it, so that whole words are stepped over",
        "line\\nline\\ttab \\\"quoted\\\" back\\\\slash \\/ \\b\\f\\r end",
        "\u00e9\u00df \u65e5\u672c\u8a9e \ud83d\ude80 mixed with plain text",
        "\\u00e9\\u65e5\\ud83d\\ude80\\u0000",
        "12345678\\n",
        "\\ud83d",
        "\\\\",
        "{\\\"model\\\":\\\"x\\\"}"
    };
    private static final String[] MEMBERS = {
        "\"model\":\"m\"",
        "\"model\":%s",
        "\"stream\":true",
        "\"stream\":false",
        "\"stream\":null",
        "\"stream\":1",
        "\"stream_options\":{\"include_usage\":true}",
        "\"stream_options\":{ \"include_usage\" : false , \"x\":[]}",
        "\"stream_options\":{ }",
        "\"stream_options\":null",
        "\"stream_options\":{\"x\":{\"include_usage\":true},\"include_usage\":null}",
        "\"max_tokens\":32",
        "\"max_tokens\":1.5",
        "\"max_completion_tokens\":null",
        "\"n\":1",
        "\"n\":9223372036854775808",
        "\"temperature\":0.70e-1",
        "\"temperature\":-0",
        "\"stop\":[%s,\"x\"]",
        "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"a\":[{},[[]]]}}",
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":%s}}]",
        "\"tools\":[ ]",
        "\"tools\":null",
        "\"functions\":{}",
        "\"chat_template_kwargs\":{\"enable_thinking\":false}",
        "\"reasoning_effort\":\"low\"",
        "\"suffix\":null",
        "\"cache_salt\":%s",
        "\"cache_salt\":null",
        "\"cache_salt\" : \"s\" ",
        "\"routed_dp_rank\":1",
        "\"routed_dp_rank\":-1",
        "\"data_parallel_rank\":null",
        "\"priority\":3",
        "\"priority\" : null ",
        "\"nvext\":{\"agent_hints\":{\"priority\":1}}",
        "\"nvext\":{\"router_config_override\":{\"router_temperature\":0.5,\"later\":[{}]}}",
        "\"nvext\":{\"token_data\":[1,2,4294967295]}",
        "\"nvext\":{\"backend_instance_id\":7,\"dp_rank\":0,\"cache_salt\":%s}",
        "\"nvext\":{\"dp_rank\":\"x\"}",
        "\"nvext\":null",
        "\"nvext\" : {} ",
        "\"add_generation_prompt\":false",
        "\"user\":%s",
        "\"kv_transfer_params\":{\"x\":%s}",
        "\"rid\": null",
        "\"disagg_x\":%s",
        "\"vllm_xargs\":{\"x\":%s,\"bootstrap_room\":1}",
        "%s:1",
        "\"mod\\u0065l\":\"n\"",
        "\"x\":[1,2,{\"model\":\"y\",\"z\":[null,true,false,\"\"]}]"
    };
    private static final String[] MESSAGES = {
        "{\"role\":\"user\",\"content\":%s}",
        "{\"role\":\"user\",\"content\":%s}",
        "{\"role\":\"user\",\"content\":%s}",
        "{\"role\":\"system\", \"content\" : %s }",
        "{\"content\":%s,\"role\":\"assistant\",\"name\":null}",
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":%s}]}",
        "{\"role\":\"assistant\"}",
        "{\"role\":%s,\"content\":\"x\"}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":%s}]}",
        "{\"role\":\"user\",\"content\":%s,\"name\":\"n\"}",
        "{\"role\":\"user\",\"content\":\"a\",\"content\":%s}"
    };
    private static final String[] PROMPTS = {
        "%s", "%s", "[%s]", "[1,2,3]", "[[7]]", "[\"a\",%s]", "null", "[]", "{}"
    };

    @Test
    void what_the_quick_reader_reads_is_what_jackson_reads() throws IOException {
        int quick = 0;
        int usual = 0;
        byte[] damage = "\"\\{}[]:, \n0tfn/u\0\u00e9x".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < BODIES; i++) {
            long seed = REPLAY == null ? 0x7e57_0000_0000L + i : REPLAY;
            SplittableRandom random = new SplittableRandom(seed);
            Endpoint endpoint = random.nextInt(3) > 0 ? Endpoint.CHAT : Endpoint.COMPLETIONS;
            byte[] b = body(random, endpoint).getBytes(StandardCharsets.UTF_8);
            boolean whole = random.nextInt(3) == 0;
            for (int n = whole ? 0 : 1 + random.nextInt(2); n > 0 && b.length > 0; n--) {
                switch (random.nextInt(6)) {
                    case 0 -> b = Arrays.copyOf(b, random.nextInt(b.length));
                    case 1 -> b[random.nextInt(b.length)] = (byte) random.nextInt();
                    default -> b[random.nextInt(b.length)] = damage[random.nextInt(damage.length)];
                }
            }
            if (agree(endpoint, b, random.nextInt(9), seed)) {
                quick++;
            }
            usual += whole ? 1 : 0;
        }
        if (REPLAY == null) {
            assertTrue(usual > BODIES / 4, "some bodies are whole: " + usual);
            assertTrue(quick > BODIES / 6, "many are read quickly: " + quick);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void a_body_cut_anywhere_or_with_any_byte_changed_is_read_the_same(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] b = body(random, Endpoint.CHAT).getBytes(StandardCharsets.UTF_8);
        for (int cut = 0; cut <= b.length; cut++) {
            agree(Endpoint.CHAT, Arrays.copyOf(b, cut), 0, seed);
        }
        for (int at = 0; at < b.length; at++) {
            for (int value = 0; value < 256; value++) {
                byte[] changed = b.clone();
                changed[at] = (byte) value;
                agree(Endpoint.CHAT, changed, 3, seed);
            }
        }
    }

    @Test
    void the_usual_requests_are_read_quickly() {
        String[] usual = {
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9 \\n\"}]}",
            " {\"messages\" : [ {\"content\":\"\u65e5\",\"role\":\"user\"} ] ,\"model\":\"m\"} \n",
            "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
                    + "\"tools\":[{\"type\":\"function\"}],\"messages\":[{\"role\":\"tool\","
                    + "\"content\":\"x\",\"tool_call_id\":\"1\"}],\"nvext\":{\"dp_rank\":1}}"
        };
        for (String body : usual) {
            assertNotNull(QuickReader.read(Endpoint.CHAT, heap(body), true), body);
        }
        assertNotNull(
                QuickReader.read(
                        Endpoint.COMPLETIONS, heap("{\"model\":\"m\",\"prompt\":[1,2]}"), true));
    }

    @Test
    void the_unusual_is_left_to_jackson() {
        String user = "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]";
        String[] unusual = {
            "{\"model\":\"m\",\"model\":\"n\"," + user + "}",
            "{\"mod\\u0065l\":\"m\"," + user + "}",
            "{\"model\":\"m\"," + user + ",/* */\"x\":1}",
            "{\"model\":\"m\"," + user + ",\"x\":" + "[".repeat(70) + "]".repeat(70) + "}",
            "{\"model\":\"\\ud800\"," + user + "}",
            "{\"model\":\"m\"," + user + "}{}",
            "\ufeff{\"model\":\"m\"," + user + "}"
        };
        for (String body : unusual) {
            assertNull(QuickReader.read(Endpoint.CHAT, heap(body), true), body);
        }
        byte[] latin =
                ("{\"model\":\"\u00e9\"," + user + "}").getBytes(StandardCharsets.ISO_8859_1);
        assertNull(QuickReader.read(Endpoint.CHAT, new HeapBytes(latin, 0, latin.length), true));
    }

    /**
     * @return whether the quick reader has read it
     */
    private static boolean agree(Endpoint endpoint, byte[] b, int offset, long seed) {
        byte[] array = new byte[offset + b.length + 2];
        Arrays.fill(array, (byte) '}');
        System.arraycopy(b, 0, array, offset, b.length);
        HeapBytes bytes = new HeapBytes(array, offset, b.length);
        RequestFields quick = QuickReader.read(endpoint, bytes, true);
        if (quick == null) {
            return false;
        }
        String got = outcome(endpoint, () -> quick);
        String expected = outcome(endpoint, () -> RequestParser.slowly(endpoint, bytes));
        if (!got.equals(expected)) {
            assertEquals(expected, got, () -> replay(seed, b));
        }
        return true;
    }

    private interface Reading {
        RequestFields read();
    }

    private static String outcome(Endpoint endpoint, Reading reading) {
        try {
            InferenceRequest r =
                    reading.read()
                            .request(
                                    endpoint,
                                    "",
                                    "",
                                    NO_HEADERS,
                                    Buffer.buffer(0),
                                    new RequestParser.Terms(false, true, false));
            String prompt =
                    switch (r.prompt()) {
                        case PromptInput.Ids ids -> Arrays.toString(ids.tokens());
                        case PromptInput.Conversation chat -> "conversation"; // read later
                        case PromptInput other -> other.toString();
                    };
            return r.model()
                    + r.stream()
                    + prompt
                    + r.salt().value()
                    + r.salt().toSend()
                    + r.routing().pinnedWorker()
                    + r.routing().pinnedRank()
                    + r.edits();
        } catch (GatewayException e) {
            return e.error().toString();
        }
    }

    @Test
    void a_spliced_body_is_the_body_with_its_tree_edited() throws IOException {
        int edited = 0;
        for (int i = 0; i < BODIES; i++) {
            long seed = REPLAY == null ? 0xed17_0000_0000L + i : REPLAY;
            SplittableRandom random = new SplittableRandom(seed);
            String text = body(random, Endpoint.CHAT);
            byte[] b = text.getBytes(StandardCharsets.UTF_8);
            HeapBytes bytes = new HeapBytes(b, 0, b.length);
            BodyEdits at;
            try {
                at = edits(bytes);
            } catch (GatewayException e) {
                continue; // refused, so never edited
            }
            BodyChanges changes = changes(random);
            Buffer result = BodyEditor.edit(Buffer.buffer(b), at, changes);
            JsonNode got;
            try {
                got = TREES.readTree(result.getBytes());
            } catch (JsonProcessingException e) {
                throw new AssertionError(changes + ": " + result + "\n" + replay(seed, b), e);
            }
            JsonNode expected = tree(b, at, changes);
            if (!expected.equals(got)) {
                assertEquals(expected, got, () -> changes + ": " + replay(seed, b));
            }
            edited++;
        }
        assertTrue(REPLAY != null || edited > BODIES / 4, "many were edited: " + edited);
    }

    @Test
    void bytes_outside_the_splices_stay_as_they_are() {
        String body =
                " { \"nvext\" :{ }, \"model\" : \"a\" ,\"x\":1.0e5,\"stream_options\" : {\"y\" : 1}"
                        + " , \"cache_salt\": null, \"nvext\":1 }\n";
        body = body.replace("\"nvext\":1 ", "\"nvext\":null ");
        body = body.replace("\"x\"", "\"messages\":[{\"role\":\"u\",\"content\":\"\"}],\"x\"");
        byte[] b = body.getBytes(StandardCharsets.UTF_8);
        BodyEdits at = edits(new HeapBytes(b, 0, b.length));
        BodyChanges all =
                BodyChanges.NONE
                        .withDpRank(2)
                        .withModel("\u00e9\"")
                        .withCacheSalt("s")
                        .withPriority(-1)
                        .withUsage()
                        .withoutNvext();
        assertEquals(
                " {\"routed_dp_rank\":2,\"priority\":-1,  \"model\" : \"\u00e9\\\"\" ,\"messages\":"
                        + "[{\"role\":\"u\",\"content\":\"\"}],\"x\":1.0e5,\"stream_options\" : "
                        + "{\"include_usage\":true,\"y\" : 1} , \"cache_salt\": \"s\" }\n",
                BodyEditor.edit(Buffer.buffer(b), at, all).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"nvext\":{}}",
                "{ \"nvext\":{} , \"nvext\":{} }",
                "{\"a\":1,\"nvext\":{},\"nvext\":{}}",
                "{\"nvext\":{},\"nvext\":{},\"a\":1}",
                "{\"nvext\":{},\"a\":1,\"nvext\":{}}"
            })
    void every_nvext_goes_with_its_comma(String body) throws IOException {
        byte[] b = body.getBytes(StandardCharsets.UTF_8);
        BodyEdits at = RequestParser.slowly(Endpoint.CHAT, HeapBytes.of(Buffer.buffer(b))).edits();
        for (BodyChanges changes :
                List.of(
                        BodyChanges.NONE.withoutNvext(),
                        BodyChanges.NONE.withoutNvext().withUsage().withDpRank(1))) {
            String result = BodyEditor.edit(Buffer.buffer(b), at, changes).toString();
            assertEquals(tree(b, at, changes), TREES.readTree(result), result);
        }
    }

    private static BodyEdits edits(HeapBytes bytes) {
        RequestFields quick = QuickReader.read(Endpoint.CHAT, bytes, true);
        return (quick == null ? RequestParser.slowly(Endpoint.CHAT, bytes) : quick).edits();
    }

    private static BodyChanges changes(SplittableRandom random) {
        BodyChanges changes = BodyChanges.NONE;
        changes = random.nextBoolean() ? changes.withDpRank(random.nextInt(4)) : changes;
        changes = random.nextBoolean() ? changes.withCacheSalt("s\n\ud800\u65e5") : changes;
        changes = random.nextBoolean() ? changes.withModel("engine/\"model\"") : changes;
        changes = random.nextBoolean() ? changes.withPriority(random.nextInt(9) - 4) : changes;
        changes = random.nextBoolean() ? changes.withUsage() : changes;
        return random.nextBoolean() ? changes.withoutNvext() : changes;
    }

    private static JsonNode tree(byte[] b, BodyEdits at, BodyChanges changes) throws IOException {
        ObjectNode root = (ObjectNode) TREES.readTree(b);
        if (changes.dpRank().isPresent() && !at.hasRank()) {
            root.put("routed_dp_rank", changes.dpRank().getAsInt());
        }
        if (changes.cacheSalt() != null) {
            root.put("cache_salt", changes.cacheSalt());
        }
        if (changes.model() != null) {
            root.put("model", changes.model());
        }
        if (changes.priority().isPresent()) {
            root.put("priority", changes.priority().getAsInt());
        }
        if (changes.includeUsage()) {
            if (root.path("stream_options") instanceof ObjectNode options) {
                options.put("include_usage", true);
            } else {
                root.putObject("stream_options").put("include_usage", true);
            }
        }
        if (changes.dropNvext()) {
            root.remove("nvext");
        }
        return root;
    }

    private static String body(SplittableRandom random, Endpoint endpoint) {
        List<String> members = new ArrayList<>();
        if (random.nextInt(30) > 0) {
            members.add("\"model\":\"m\"");
        }
        for (int n = random.nextInt(6); n > 0; n--) {
            members.add(fill(MEMBERS[2 + random.nextInt(MEMBERS.length - 2)], random));
        }
        if (endpoint == Endpoint.CHAT) {
            StringBuilder messages = new StringBuilder("\"messages\":[");
            for (int n = random.nextInt(5); n >= 0; n--) {
                // Most bodies hold plain messages only.
                int kinds = random.nextInt(12) == 0 ? MESSAGES.length : 5;
                messages.append(fill(MESSAGES[random.nextInt(kinds)], random));
                messages.append(n > 0 ? "," : "]");
            }
            members.add(random.nextInt(members.size() + 1), messages.toString());
        } else {
            members.add("\"prompt\":" + fill(PROMPTS[random.nextInt(PROMPTS.length)], random));
        }
        if (random.nextInt(20) == 0) {
            members.add(fill(MEMBERS[random.nextInt(MEMBERS.length)], random));
        }
        String comma = random.nextInt(4) == 0 ? " ,\n " : ",";
        return (random.nextInt(8) == 0 ? " {\t" : "{")
                + String.join(comma, members)
                + (random.nextInt(8) == 0 ? " }\r\n" : "}");
    }

    private static String fill(String form, SplittableRandom random) {
        int kinds = random.nextInt(40) == 0 ? TEXTS.length : 6;
        return form.replace("%s", '"' + TEXTS[random.nextInt(kinds)] + '"');
    }

    private static HeapBytes heap(String body) {
        byte[] b = body.getBytes(StandardCharsets.UTF_8);
        return new HeapBytes(b, 0, b.length);
    }

    private static String replay(long seed, byte[] b) {
        return "-Dwarmpath.test.seed=" + seed + ": " + new String(b, StandardCharsets.UTF_8);
    }
}
