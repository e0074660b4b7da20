package io.warmpath.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.adapter.enginetokens.EngineModelPlaces;
import io.warmpath.adapter.enginetokens.EngineTokenizers;
import io.warmpath.adapter.openai.OpenAiModels;
import io.warmpath.adapter.sglang.SglangDialect;
import io.warmpath.adapter.sglang.SglangPins;
import io.warmpath.adapter.trtllm.TrtllmDialect;
import io.warmpath.adapter.vllm.VllmDialect;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.DialectProbe;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Nothing but its models and its health keeps an engine from serving: each page of each kind, and
 * each member of each page, says everything that it should not.
 */
class OddFactsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final WorkerSpec SPEC = WorkerSpec.of("http://10.0.0.7:30000");
    private static final String LOADS = "/v1/loads?include=core,lora";

    private static final List<String> PAGES =
            List.of(
                    "",
                    "not json",
                    "<html><body>welcome</body></html>",
                    "null",
                    "true",
                    "7",
                    "\"text\"",
                    "[]",
                    "[[[]]]",
                    "[null]",
                    "{}",
                    "{\"detail\":\"Not Found\"}",
                    "{\"sources\":7}",
                    "{\"sources\":[7]}",
                    "{\"version\":{}}",
                    "{\"page_size\":{}}",
                    "{\"kv_events\":[],\"page_size\":\"sixteen\"}",
                    "{\"a\":" + "[".repeat(5_000),
                    "{\"page_size\":" + "9".repeat(2_000) + "}",
                    "\u0000\u0007\ud800");

    private static final List<String> VALUES =
            List.of(
                    "null",
                    "true",
                    "\"\"",
                    "\"x\\u0000\\n\"",
                    "\"-1\"",
                    "\"tcp://*:70000\"",
                    "\"" + "y".repeat(5_000) + "\"",
                    "[]",
                    "[1]",
                    "{}",
                    "{\"a\":{\"b\":[]}}",
                    "-1",
                    "0",
                    "0.5",
                    "65536",
                    "70000",
                    "2147483647",
                    "4294967297",
                    "1e300",
                    "-1e300",
                    "1" + "0".repeat(400));

    private static final List<String> GAUGES =
            List.of(
                    "-1",
                    "1e300",
                    "-1e300",
                    "NaN",
                    "+Inf",
                    "",
                    "x",
                    "2147483648",
                    "0x1p3",
                    "1.2.3");

    /** One kind of engine, all of whose pages are as they should be. */
    private record Kind(
            String name, Supplier<FakeEngine> good, WorkerSpec spec, List<String> json) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final List<String> TEXT = List.of("/metrics", "/prometheus/metrics");

    static Stream<Kind> kinds() {
        WorkerSpec prefill = new WorkerSpecBuilder(SPEC.url()).role(Role.PREFILL, 16600).build();
        return Stream.of(
                new Kind("sglang", () -> sglang("sglang-server_info.json"), SPEC, info()),
                new Kind("sglang, 2", () -> sglang("sglang-dp2-server_info.json"), SPEC, info()),
                new Kind("prefill", () -> sglang("sglang-prefill-server_info.json"), SPEC, info()),
                new Kind("decode", () -> sglang("sglang-decode-server_info.json"), SPEC, info()),
                new Kind("told", OddFactsTest::vllm, told(EngineKind.VLLM), vllmPages()),
                new Kind("vllm", OddFactsTest::vllm, SPEC, vllmPages()),
                new Kind("mooncake", OddFactsTest::vllm, prefill, vllmPages()),
                new Kind("trtllm", OddFactsTest::trtllm, SPEC, List.of("/version")),
                new Kind("told sglang", OddFactsTest::vllm, told(EngineKind.SGLANG), vllmPages()),
                new Kind("plain", OddFactsTest::models, SPEC, List.of("/server_info", "/version")));
    }

    private static List<String> info() {
        return List.of("/server_info", LOADS);
    }

    private static List<String> vllmPages() {
        return List.of("/version", "/kv_event_sources", "/query", LOADS);
    }

    private static WorkerSpec told(EngineKind kind) {
        return new WorkerSpecBuilder(SPEC.url()).kind(kind).build();
    }

    private static FakeEngine models() {
        return new FakeEngine()
                .recorded("/v1/models", "vllm-models.json")
                .answer("/tokenize", "{\"tokens\":[1,2]}");
    }

    private static FakeEngine sglang(String info) {
        return models().recorded("/v1/models", "sglang-models.json")
                .recorded("/server_info", info)
                .recorded(LOADS, "sglang-lora-loads.json");
    }

    private static FakeEngine vllm() {
        return models().recorded("/version", "vllm-version.json")
                .recorded("/kv_event_sources", "vllm-kv_event_sources.json")
                .recorded("/query", "vllm-mooncake-query.json")
                .recorded("/metrics", "vllm-lora-metrics.txt");
    }

    private static FakeEngine trtllm() {
        return models().recorded("/v1/models", "trtllm-models.json")
                .answer("/version", "{\"version\":\"1.2.1\"}")
                .recorded("/prometheus/metrics", "trtllm-metrics.txt");
    }

    private static WorkerProbe probe(FakeEngine engine) {
        return new DialectProbe(
                engine,
                new OpenAiModels(),
                List.of(new SglangDialect(), new TrtllmDialect(), new VllmDialect()),
                Optional.empty(),
                Duration.ofSeconds(25),
                served -> 16);
    }

    /** It is learnt with its models, becomes ready, and tells nothing that no engine has. */
    private static WorkerProfile serves(Kind kind, FakeEngine engine, String what) {
        try {
            WorkerProfile p = probe(engine).learn(kind.spec);
            assertFalse(p.served().names().isEmpty(), what);
            assertTrue(p.blockSize() >= 1 && p.blockSize() <= PrefixIndex.MAX_BLOCK_SIZE, what);
            assertTrue(p.version().length() < 80 && !p.version().contains("\n"), what);
            for (EventEndpoint e : p.events()) {
                assertTrue(e.dpRank() >= 0 && e.dpRank() < p.dpSize(), what);
            }
            for (String said : p.unread()) {
                assertTrue(said.length() < 250 && said.indexOf('\n') < 0, said);
            }
            FleetRegistry fleet =
                    new FleetRegistry(new ReferencePrefixIndex(), String::hashCode, s -> {});
            Worker added = fleet.add(kind.spec);
            fleet.learnt(added.id(), p, false);
            Worker ready = fleet.snapshot().workers().getFirst();
            assertEquals(WorkerState.READY, ready.state(), what);
            asides(engine, ready, kind.spec);
            return p;
        } catch (ProbeException | RuntimeException e) {
            throw new AssertionError(kind + ", " + what, e);
        }
    }

    /** What is asked of a worker that serves. */
    private static void asides(FakeEngine engine, Worker w, WorkerSpec spec) {
        try {
            for (EngineLoad load : probe(engine).load(spec, w.kind())) {
                assertTrue(load.requests() >= 0 && load.requests() <= 2_000_000, load.toString());
                assertTrue(Double.isFinite(load.blocks(w)), load.toString());
                assertTrue(load.blocks(w) >= 0, load.toString());
            }
        } catch (ProbeException e) {
            assertFalse(String.valueOf(e.getMessage()).isEmpty()); // it grows stale
        }
        String model = w.models().iterator().next();
        byte[] prompt = "{\"prompt\":\"a\"}".getBytes(StandardCharsets.UTF_8);
        unless(() -> new SglangPins("/pin").ask(w, engine));
        unless(() -> new EngineModelPlaces(engine).of(w));
        unless(
                () ->
                        new EngineTokenizers(engine, 0, () -> 0)
                                .tokens(w, new EngineTokenizer.Question(model, prompt, null)));
    }

    private interface Question {
        Object ask() throws IOException;
    }

    /** What is not told is refused by name. */
    private static void unless(Question question) {
        try {
            question.ask();
        } catch (IOException e) {
            assertFalse(String.valueOf(e.getMessage()).isEmpty());
        }
    }

    /** Each page but the models, as it is answered by something else or not at all. */
    @ParameterizedTest
    @MethodSource("kinds")
    void whole_pages(Kind kind) {
        assertEquals(List.of(), serves(kind, kind.good.get(), "as recorded").unread());
        List<String> pages = new ArrayList<>(kind.json);
        pages.addAll(TEXT);
        pages.addAll(List.of("/get_server_info", "/get_load", "/tokenize", "/pin"));
        for (String page : pages) {
            for (String body : PAGES) {
                serves(kind, kind.good.get().answer(page, body), page + " = " + body);
            }
            for (int status : new int[] {204, 301, 302, 307, 401, 403, 404, 405, 429, 500, 503}) {
                String what = page + " answered " + status;
                serves(kind, kind.good.get().answer(page, status, "{\"location\":7}"), what);
            }
            serves(kind, kind.good.get().late(page), page + " is late");
        }
        assertTrue(
                pages.stream()
                        .map(page -> serves(kind, kind.good.get().late(page), page))
                        .anyMatch(p -> !p.unread().isEmpty()),
                "what does not come is told");
    }

    /** Each member of each page, alone. */
    @ParameterizedTest
    @MethodSource("kinds")
    void members_of_pages(Kind kind) throws IOException {
        for (String page : kind.json) {
            String good = kind.good.get().body(page);
            if (!good.isEmpty()) {
                JsonNode root = JSON.readTree(good);
                changed(
                        root,
                        root,
                        page,
                        (what, body) -> serves(kind, kind.good.get().answer(page, body), what));
            }
        }
    }

    /** What a list of models says beside their names. */
    @ParameterizedTest
    @MethodSource("kinds")
    void members_of_models(Kind kind) throws IOException {
        JsonNode root = JSON.readTree(kind.good.get().body("/v1/models"));
        JsonNode first = root.path("data").path(0);
        changed(
                root,
                first,
                "/v1/models",
                (what, body) -> {
                    if (!what.startsWith("/v1/models.id ")) {
                        serves(kind, kind.good.get().answer("/v1/models", body), what);
                    }
                });
    }

    private interface Change {
        void made(String what, String body);
    }

    private static void changed(JsonNode root, JsonNode at, String path, Change change) {
        if (at instanceof ObjectNode object) {
            for (String name :
                    List.copyOf(Stream.of(object).flatMap(OddFactsTest::names).toList())) {
                JsonNode was = object.get(name);
                each(path + "." + name, root, change, value -> object.set(name, value));
                object.remove(name);
                change.made(path + "." + name + " is missing", root.toString());
                object.set(name, was);
                changed(root, was, path + "." + name, change);
            }
        } else if (at instanceof ArrayNode array && !array.isEmpty()) {
            JsonNode was = array.get(0);
            each(path + "[0]", root, change, value -> array.set(0, value));
            array.set(0, was);
            changed(root, was, path + "[0]", change);
        }
    }

    private static Stream<String> names(ObjectNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names.stream();
    }

    private static void each(String what, JsonNode root, Change change, Consumer<JsonNode> set) {
        for (String value : VALUES) {
            try {
                set.accept(JSON.readTree(value));
            } catch (IOException e) {
                throw new AssertionError(value, e);
            }
            change.made(what + " = " + value, root.toString());
        }
    }

    /** Each number and each label of the pages that are no JSON. */
    @ParameterizedTest
    @MethodSource("kinds")
    void gauges(Kind kind) {
        for (String page : TEXT) {
            String good = kind.good.get().body(page);
            Matcher m =
                    Pattern.compile("(?m)^(?:vllm|trtllm)[^#\\n]*?(?:=\"([^\"]*)\"|} (\\S+)$)")
                            .matcher(good);
            while (m.find()) {
                int group = m.group(1) != null ? 1 : 2;
                for (String odd : GAUGES) {
                    String body =
                            good.substring(0, m.start(group)) + odd + good.substring(m.end(group));
                    serves(kind, kind.good.get().answer(page, body), m.group() + " = " + odd);
                }
            }
            String whole = good.replaceAll("=\"\\d+\"", "=\"999999999999\"");
            serves(kind, kind.good.get().answer(page, whole), page + " with huge labels");
            String values = good.replaceAll("(?m)} \\S+$", "} -1e300");
            serves(kind, kind.good.get().answer(page, values), page + " with huge values");
        }
    }

    /** Without them it serves nobody, and without its process neither. */
    @ParameterizedTest
    @MethodSource("kinds")
    void its_models_and_its_process_are_needed(Kind kind) {
        for (int status : new int[] {302, 404, 500}) {
            FakeEngine none = kind.good.get().answer("/v1/models", status, "");
            assertThrows(ProbeException.class, () -> probe(none).learn(kind.spec));
        }
        FakeEngine late = kind.good.get().late("/v1/models");
        assertThrows(ProbeException.class, () -> probe(late).learn(kind.spec));
        FakeEngine down = kind.good.get().down();
        assertThrows(ProbeException.class, () -> probe(down).learn(kind.spec));
    }

    /** The shapes of which it is known that something answers so. */
    @Test
    void events_that_cannot_be_found_are_told_once_and_with_their_cause() {
        Kind vllm = new Kind("vllm", OddFactsTest::vllm, SPEC, List.of());
        for (String body :
                List.of(
                        "not json",
                        "{\"detail\":\"Not Found\"}",
                        "{\"dp0\":{\"endpoint\":\"tcp://*:5557\"}}",
                        "[7]",
                        "7",
                        "{\"sources\":{\"x\":1}}",
                        "{\"0\":{\"endpoint\":\"ipc://a\"},\"1\":{\"endpoint\":\"ipc://a\"}}")) {
            assertUnknown(serves(vllm, vllm().answer("/kv_event_sources", body), body));
        }
        assertUnknown(serves(vllm, vllm().status("/kv_event_sources", 500), "500"));
        assertUnknown(serves(vllm, vllm().status("/kv_event_sources", 302), "302"));
        assertUnknown(serves(vllm, vllm().late("/kv_event_sources"), "late"));
        Kind sglang = new Kind("sglang", OddFactsTest::models, SPEC, List.of());
        for (String events :
                List.of(
                        "\"zmq\"",
                        "[{\"publisher\":\"zmq\",\"endpoint_port_base\":5557}]",
                        "{\"publisher\":\"zmq\"}",
                        "{\"publisher\":\"zmq\",\"endpoint_port_base\":null}",
                        "{\"publisher\":\"zmq\",\"endpoint_port_base\":\"x\"}",
                        "{\"publisher\":\"zmq\",\"endpoint_port_base\":70000}",
                        "{\"publisher\":\"zmq\",\"endpoint_port_base\":65535,\"dp_size\":2}",
                        "{\"publisher\":\"zmq\",\"endpoint_port_base\":5557,\"dp_size\":1025}")) {
            String info = "{\"version\":\"0.5.23\",\"page_size\":16,\"kv_events\":" + events + "}";
            assertUnknown(serves(sglang, models().answer("/server_info", info), events));
        }
    }

    /** The record's endpoint is one socket, and the engine tells of two ranks. */
    @Test
    void a_socket_that_does_not_do_for_all_ranks_is_told() {
        WorkerSpec spec =
                new WorkerSpecBuilder(SPEC.url()).events("ipc://kv", null, false, "").build();
        Kind kind = new Kind("two", OddFactsTest::models, spec, List.of());
        WorkerProfile p = serves(kind, sglang("sglang-dp2-server_info.json"), "ipc");
        assertEquals(2, p.dpSize());
        assertUnknown(p);
    }

    private static void assertUnknown(WorkerProfile p) {
        assertEquals(List.of(), p.events());
        assertEquals(1, p.unread().size(), p.unread().toString());
        assertEquals("events: " + p.noEvents(), p.unread().getFirst());
        assertFalse(p.noEvents().isEmpty());
    }

    /** Its kind hangs on the answer: it is asked again before it is taken for a plain one. */
    @Test
    void what_stays_open_is_asked_twice_and_told() throws ProbeException {
        FakeEngine late = sglang("sglang-server_info.json").late("/server_info");
        WorkerProfile p = probe(late).learn(SPEC);
        assertEquals(EngineKind.OPENAI, p.kind());
        assertEquals(2, late.asked().stream().filter("/server_info"::equals).count());
        assertEquals(List.of("what a SGLANG tells: no answer within 3000 ms"), p.unread());
        FakeEngine vllm = vllm().answer("/server_info", 500, "");
        assertEquals(EngineKind.VLLM, probe(vllm).learn(SPEC).kind());
        assertEquals(List.of(), probe(vllm).learn(SPEC).unread(), "it is another one");
    }
}
