package io.warmpath.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.openai.OpenAiModels;
import io.warmpath.adapter.sglang.SglangDialect;
import io.warmpath.adapter.trtllm.TrtllmDialect;
import io.warmpath.adapter.vllm.VllmDialect;
import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.probe.AdapterSlots;
import io.warmpath.fleet.probe.DialectProbe;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.MovedKv;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is learnt from the recorded answers of real engines. */
class EngineProbeTest {
    private static final WorkerSpec SPEC = WorkerSpec.of("http://10.0.0.7:30000");

    private static WorkerProbe probe(FakeEngine engine) {
        return new DialectProbe(
                engine,
                new OpenAiModels(),
                List.of(new SglangDialect(), new TrtllmDialect(), new VllmDialect()),
                Optional.empty(),
                Duration.ofSeconds(25),
                served -> 16);
    }

    private static FakeEngine sglang(String serverInfo) {
        return new FakeEngine()
                .recorded("/v1/models", "sglang-models.json")
                .recorded("/server_info", serverInfo);
    }

    private static FakeEngine vllm() {
        return new FakeEngine()
                .recorded("/v1/models", "vllm-models.json")
                .recorded("/version", "vllm-version.json")
                .recorded("/kv_event_sources", "vllm-kv_event_sources.json")
                .recorded("/metrics", "vllm-metrics.txt");
    }

    private static WorkerSpec spec(
            EngineKind kind, Set<String> models, int blockSize, int dpSize, String endpoint) {
        return new WorkerSpec(
                SPEC.url(),
                null,
                OptionalLong.empty(),
                kind,
                models,
                blockSize,
                dpSize,
                endpoint,
                null,
                false,
                "t",
                List.of(),
                null,
                null,
                Capacity.UNKNOWN,
                Map.of(),
                null,
                0,
                null,
                0);
    }

    /**
     * Its version is as vLLM's, and it has a /server_info of its own; its models say whose it is.
     */
    private static FakeEngine trtllm() {
        return new FakeEngine()
                .recorded("/v1/models", "trtllm-models.json")
                .answer("/server_info", "{\"disaggregated_params\":null}")
                .answer("/version", "{\"version\":\"1.2.1\"}");
    }

    @Test
    void tensorrt_llm_is_known_by_the_owner_of_its_models_and_asked_for_its_events()
            throws Exception {
        WorkerProfile profile = probe(trtllm()).learn(SPEC);
        assertEquals(EngineKind.TRTLLM, profile.kind());
        assertEquals("1.2.1", profile.version());
        assertEquals(Set.of("TinyLlama-1.1B-Chat-v1.0"), profile.served().names());
        assertEquals(32, profile.blockSize(), "tokens_per_block's default");
        assertTrue(profile.blockSizeAssumed());
        assertEquals(
                List.of(
                        new EventEndpoint(
                                0, "http://10.0.0.7:30000/kv_cache_events", false, null, "")),
                profile.events());
    }

    @Test
    void tensorrt_llm_tells_blocks_and_load_by_its_gauges() throws Exception {
        FakeEngine engine = trtllm().recorded("/prometheus/metrics", "trtllm-metrics.txt");
        WorkerProfile profile = probe(engine).learn(SPEC);
        assertEquals(64, profile.blockSize());
        assertFalse(profile.blockSizeAssumed());
        assertEquals(101_256, profile.capacity().kvBlocks());
        assertEquals(
                List.of(new EngineLoad(0, 3, 2, -1, 0.25)),
                probe(engine).load(SPEC, EngineKind.TRTLLM));
        assertEquals(List.of(), probe(trtllm()).load(SPEC, EngineKind.TRTLLM));
        assertFalse(engine.asked().contains("/metrics"), "reading it would empty it");
    }

    @Test
    void each_rank_of_tensorrt_llm_is_told_of_at_one_address() throws Exception {
        WorkerProfile profile = probe(trtllm()).learn(spec(null, Set.of(), 64, 2, null));
        assertEquals(64, profile.blockSize());
        assertEquals(List.of(), profile.disagreements());
        assertEquals(List.of(0, 1), profile.events().stream().map(EventEndpoint::dpRank).toList());
        assertTrue(profile.events().stream().allMatch(e -> EventEndpoint.isPolled(e.endpoint())));
    }

    @Test
    void tensorrt_llm_is_suspected_by_a_token() {
        FakeEngine engine = trtllm().answer("/health", "").status("/health_generate", 500);
        assertEquals(
                WorkerProbe.Verdict.OK, probe(engine).health(SPEC, EngineKind.TRTLLM).verdict());
        assertEquals(
                "GET /health_generate answered 500",
                probe(engine).deepHealth(SPEC, EngineKind.TRTLLM).detail());
        assertEquals(List.of("/health_generate"), engine.patiently());
    }

    @Test
    void what_sglang_makes_of_priorities_is_learnt() throws Exception {
        for (String[] row :
                new String[][] {
                    {"", "not-taken"},
                    {",\"enable_priority_scheduling\":false", "not-taken"},
                    {",\"radix_eviction_policy\":\"lru\"", "not-taken"},
                    {",\"schedule_low_priority_values_first\":true", "not-taken"},
                    {",\"enable_priority_scheduling\":true", "higher-first"},
                    {",\"radix_eviction_policy\":\"priority\"", "higher-first"},
                    {
                        ",\"enable_priority_scheduling\":true,"
                                + "\"schedule_low_priority_values_first\":true",
                        "lower-first"
                    },
                    {
                        ",\"radix_eviction_policy\":\"priority\","
                                + "\"schedule_low_priority_values_first\":true",
                        "higher-first" // of the queue alone
                    }
                }) {
            String said = "{\"page_size\":16,\"version\":\"0.5.23\"" + row[0] + "}";
            assertEquals(row[1], probe(info(said)).learn(SPEC).priorities().word(), said);
        }
    }

    @Test
    void what_is_special_about_sglangs_cache_is_learnt() throws Exception {
        for (String[] row :
                new String[][] {
                    {"", "false false"},
                    {",\"speculative_algorithm\":null", "false false"},
                    {",\"speculative_algorithm\":\"NGRAM\"", "false false"},
                    {",\"speculative_algorithm\":\"EAGLE\"", "true false"},
                    {",\"speculative_algorithm\":\"EAGLE3\"", "true false"},
                    {",\"speculative_algorithm\":\"NEXTN\"", "true false"},
                    {",\"speculative_algorithm\":\"FROZEN_KV_MTP\"", "true false"},
                    {memory("{\"token_capacity_swa\":null}"), "false false"},
                    {memory("{\"token_capacity_swa\":4096}"), "false true"},
                    {",\"internal_states\":[{\"max_mamba_cache_size\":null}]", "false false"},
                    {",\"internal_states\":[{},{\"max_mamba_cache_size\":8}]", "false true"}
                }) {
            String said = "{\"page_size\":16,\"version\":\"0.5.23\"" + row[0] + "}";
            CacheTraits cache = probe(info(said)).learn(SPEC).cache();
            assertEquals(row[1], cache.bigrams() + " " + cache.partlyTold(), said);
        }
        assertEquals(
                CacheTraits.PLAIN, probe(sglang("sglang-server_info.json")).learn(SPEC).cache());
    }

    @Test
    void that_vllm_guesses_ahead_is_learnt() throws Exception {
        assertEquals(CacheTraits.PLAIN, probe(vllm()).learn(SPEC).cache());
        assertEquals(
                new CacheTraits(false, false, true),
                probe(vllm().recorded("/metrics", "vllm-ngram-metrics.txt")).learn(SPEC).cache());
    }

    private static String memory(String usage) {
        return ",\"internal_states\":[{\"memory_usage\":" + usage + "}]";
    }

    @Test
    void how_sglang_keeps_sessions_is_learnt() throws Exception {
        String streaming = ",\"enable_streaming_session\":true";
        for (String[] row :
                new String[][] {
                    {"", "sticky"},
                    {",\"enable_streaming_session\":false", "sticky"},
                    {streaming, "streaming"},
                    {streaming + ",\"reasoning_parser\":null", "streaming"},
                    {streaming + ",\"reasoning_parser\":\"qwen3\"", "sticky"},
                    {streaming + ",\"enable_session_radix_cache\":true", "radix"},
                    {",\"enable_session_radix_cache\":true", "radix"}
                }) {
            String said = "{\"page_size\":16,\"version\":\"0.5.23\"" + row[0] + "}";
            assertEquals(row[1], probe(info(said)).learn(SPEC).sessions().word(), said);
        }
    }

    @Test
    void adapters_are_told_apart_from_the_model_that_they_belong_to() throws ProbeException {
        FakeEngine engine = vllm().recorded("/v1/models", "vllm-models-lora.json");
        ServedModels told =
                new ServedModels(
                        Set.of("tiny", "sql1", "sql2"), Map.of("sql1", "tiny", "sql2", "tiny"));
        assertEquals(told, probe(engine).learn(SPEC).served());
        assertEquals(told, probe(engine).served(SPEC));
        assertEquals(Set.of("tiny"), told.own());
        String odd =
                "{\"data\":[{\"id\":\"a\",\"parent\":\"a\"},{\"id\":\"b\",\"parent\":\"gone\"}]}";
        assertEquals(
                ServedModels.of(Set.of("a", "b")),
                probe(new FakeEngine().answer("/v1/models", odd)).served(SPEC));
        assertThrows(
                ProbeException.class,
                () -> probe(new FakeEngine().status("/v1/models", 503)).served(SPEC));
    }

    @Test
    void sglang_tells_everything_and_its_wildcard_becomes_the_workers_host() throws ProbeException {
        WorkerProfile p = probe(sglang("sglang-server_info.json")).learn(SPEC);
        assertEquals(EngineKind.SGLANG, p.kind());
        assertEquals("0.5.23", p.version());
        assertEquals(Set.of("tiny"), p.served().names());
        assertEquals(16, p.blockSize());
        assertFalse(p.blockSizeAssumed());
        assertEquals(1, p.dpSize());
        assertEquals(new Capacity(0, 100), p.capacity());
        assertEquals(
                List.of(
                        new EventEndpoint(
                                0,
                                "tcp://10.0.0.7:5657",
                                false,
                                "tcp://10.0.0.7:5658",
                                "kv-events")),
                p.events());
    }

    @Test
    void sglang_tells_its_role_and_takes_no_whole_request_then() throws ProbeException {
        WorkerProfile prefill = probe(sglang("sglang-prefill-server_info.json")).learn(SPEC);
        assertEquals(
                new Disaggregation(Role.PREFILL, false, 18998, "mooncake"),
                prefill.disaggregation());
        WorkerProfile decode = probe(sglang("sglang-decode-server_info.json")).learn(SPEC);
        assertEquals(
                new Disaggregation(Role.DECODE, false, 0, "mooncake"), decode.disaggregation());
        WorkerProfile whole = probe(sglang("sglang-server_info.json")).learn(SPEC);
        assertEquals(Disaggregation.NONE, whole.disaggregation());
        assertEquals(List.of(), prefill.disagreements());
    }

    @Test
    void a_role_that_an_operator_gives_goes_before_the_engines() throws ProbeException {
        WorkerSpec decode = new WorkerSpecBuilder(SPEC.url()).role(Role.DECODE, 0).build();
        WorkerProfile vllm = probe(vllm()).learn(decode);
        assertEquals(new Disaggregation(Role.DECODE, true, 0, ""), vllm.disaggregation());
        assertEquals(List.of(), vllm.disagreements());
        WorkerSpec prefill = new WorkerSpecBuilder(SPEC.url()).role(Role.PREFILL, 9000).build();
        WorkerProfile sglang = probe(sglang("sglang-decode-server_info.json")).learn(prefill);
        assertEquals(
                new Disaggregation(Role.PREFILL, false, 9000, "mooncake"), sglang.disaggregation());
        assertEquals(
                List.of("role: prefill by its record, decode by its engine"),
                sglang.disagreements());
    }

    /** SGLang's server for that has no other path that a probe could ask. */
    @Test
    void one_that_encodes_media_is_asked_for_its_health_alone() throws ProbeException {
        for (EngineKind kind : new EngineKind[] {null, EngineKind.SGLANG, EngineKind.VLLM}) {
            WorkerSpec spec =
                    new WorkerSpecBuilder(SPEC.url())
                            .kind(kind)
                            .models(Set.of("m"))
                            .role(Role.ENCODE, 0)
                            .build();
            FakeEngine engine = new FakeEngine().answer("/health", "");
            WorkerProfile p = probe(engine).learn(spec);
            assertEquals(Set.of(), p.served().names());
            assertEquals(new Disaggregation(Role.ENCODE, false, 0, ""), p.disaggregation());
            assertEquals(List.of(), p.disagreements());
            assertEquals(WorkerProbe.Verdict.OK, probe(engine).health(spec, p.kind()).verdict());
            assertEquals(List.of("/health", "/health"), engine.asked());
            FakeEngine ill = new FakeEngine().status("/health", 503);
            assertThrows(ProbeException.class, () -> probe(ill).learn(spec));
        }
    }

    @Test
    void the_registry_of_mooncakes_connector_names_the_engines() throws Exception {
        WorkerSpec prefill = new WorkerSpecBuilder(SPEC.url()).role(Role.PREFILL, 16600).build();
        WorkerProfile p =
                probe(vllm().recorded("/query", "vllm-mooncake-query.json")).learn(prefill);
        assertEquals(
                new Disaggregation(
                        Role.PREFILL,
                        true,
                        16600,
                        "mooncake",
                        List.of("26ad3fb5-52a5-4962-a839-a4d0b239f394")),
                p.disaggregation());
    }

    /** A registry that does not know its engine yet: whole requests go there, and no halves. */
    @Test
    void without_the_registry_of_mooncakes_connector_an_engine_does_whole_requests()
            throws Exception {
        WorkerSpec prefill = new WorkerSpecBuilder(SPEC.url()).role(Role.PREFILL, 16600).build();
        for (String none : new String[] {"{}", "[]", "{\"1\":{\"engine_id\":\"e\"}}", "<html>"}) {
            WorkerProfile p = probe(vllm().answer("/query", none)).learn(prefill);
            assertEquals(Disaggregation.NONE, p.disaggregation());
            assertTrue(p.unread().getFirst().contains("/query"), p.unread().toString());
        }
        WorkerProfile p = probe(vllm()).learn(prefill);
        assertEquals(Disaggregation.NONE, p.disaggregation());
        assertTrue(p.unread().getFirst().contains("/query"), p.unread().toString());
    }

    @Test
    void sglang_with_two_ranks_has_two_sockets_and_two_replays() throws ProbeException {
        WorkerProfile p = probe(sglang("sglang-dp2-server_info.json")).learn(SPEC);
        assertEquals(2, p.dpSize());
        assertEquals(
                List.of(
                        new EventEndpoint(
                                0,
                                "tcp://10.0.0.7:5657",
                                false,
                                "tcp://10.0.0.7:5667",
                                "kv-events"),
                        new EventEndpoint(
                                1,
                                "tcp://10.0.0.7:5658",
                                false,
                                "tcp://10.0.0.7:5668",
                                "kv-events")),
                p.events());
    }

    @Test
    void sglang_tells_when_it_copies_blocks_to_host_memory() throws ProbeException {
        String said =
                "{\"version\":\"0.5.23\",\"page_size\":64,\"enable_hierarchical_cache\":%s,"
                        + "\"hicache_write_policy\":\"%s\"}";
        assertEquals(HostCopies.EARLY, copies(said.formatted("true", "write_through")));
        assertEquals(HostCopies.ON_EVICTION, copies(said.formatted("true", "write_back")));
        assertEquals(
                HostCopies.SELECTIVE, copies(said.formatted("true", "write_through_selective")));
        assertEquals(HostCopies.NONE, copies(said.formatted("false", "write_through")));
        assertEquals(HostCopies.NONE, copies("{\"page_size\":64}"));
    }

    private static HostCopies copies(String serverInfo) throws ProbeException {
        return offload(serverInfo).host();
    }

    private static Offload offload(String serverInfo) throws ProbeException {
        return probe(info(serverInfo)).learn(SPEC).offload();
    }

    private static FakeEngine info(String serverInfo) {
        return new FakeEngine()
                .recorded("/v1/models", "sglang-models.json")
                .answer("/server_info", serverInfo);
    }

    @Test
    void sglang_with_a_mooncake_pool_tells_how_it_writes_there() throws ProbeException {
        String said =
                "{\"version\":\"0.5.23\",\"page_size\":64,\"tp_size\":2,\"pp_size\":1,"
                        + "\"served_model_name\":\"Qwen/Qwen3-0.6B\","
                        + "\"speculative_algorithm\":\"EAGLE3\","
                        + "\"enable_hierarchical_cache\":true,"
                        + "\"hicache_mem_layout\":\"page_head\","
                        + "\"hicache_storage_backend\":\"%s\","
                        + "\"hicache_storage_backend_extra_config\":%s}";
        String extra =
                "\"{\\\"master_server_address\\\":\\\"mm:50051\\\",\\\"tp_lcm_size\\\":4,"
                        + "\\\"extra_backend_tag\\\":\\\"t\\\",\\\"global_segment_size\\\":\\\"4gb\\\"}\"";
        assertEquals(
                new HiCacheMetadata(
                        64,
                        2,
                        1,
                        false,
                        true,
                        4,
                        true,
                        "t",
                        "mm:50051",
                        9003,
                        "Qwen/Qwen3-0.6B",
                        ""),
                offload(said.formatted("mooncake", extra)).pool());
        assertNull(offload(said.formatted("nixl", "null")).pool());
        assertNull(offload(said.formatted("mooncake", "\"no json\"")).pool(), "it still serves");
        WorkerSpec told =
                new WorkerSpecBuilder(SPEC.url())
                        .pool(HiCacheMetadata.of(Map.of("page_size", 32, "is_mla_model", true)))
                        .priorities(PriorityOrder.LOWER_FIRST)
                        .build();
        assertEquals(
                PriorityOrder.LOWER_FIRST,
                probe(info(said.formatted("mooncake", extra))).learn(told).priorities());
        assertEquals(
                told.pool(),
                probe(info(said.formatted("mooncake", extra))).learn(told).offload().pool(),
                "the operator's word comes first");
    }

    @Test
    void sglang_without_events_is_still_sglang() throws ProbeException {
        FakeEngine engine =
                new FakeEngine()
                        .recorded("/v1/models", "sglang-models.json")
                        .answer(
                                "/get_server_info",
                                "{\"version\":\"0.4\",\"page_size\":64,\"dp_size\":1,\"kv_events\":null,"
                                        + "\"max_prefill_tokens\":16384,"
                                        + "\"max_total_num_tokens\":6400}");
        WorkerProfile p = probe(engine).learn(SPEC);
        assertEquals(EngineKind.SGLANG, p.kind());
        assertEquals(64, p.blockSize());
        assertEquals(new Capacity(16384, 100), p.capacity());
        assertEquals(List.of(), p.events());
    }

    @Test
    void vllm_tells_sockets_and_block_size() throws ProbeException {
        WorkerProfile p = probe(vllm()).learn(SPEC);
        assertEquals(EngineKind.VLLM, p.kind());
        assertEquals("0.32.0", p.version());
        assertEquals(Set.of("tiny"), p.served().names());
        assertEquals(32, p.blockSize());
        assertEquals(new Capacity(0, 96), p.capacity());
        assertEquals(
                List.of(
                        new EventEndpoint(
                                0,
                                "tcp://10.0.0.7:5557",
                                false,
                                "tcp://10.0.0.7:5558",
                                "kv-events")),
                p.events());
    }

    @Test
    void vllm_ranks_with_equal_settings_are_counted_up() throws ProbeException {
        String settings = "{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\",\"topic\":\"\"}";
        FakeEngine engine =
                vllm().answer(
                                "/kv_event_sources",
                                "{\"0\":" + settings + ",\"1\":" + settings + "}");
        WorkerProfile p = probe(engine).learn(SPEC);
        assertEquals(2, p.dpSize());
        assertEquals(
                List.of("tcp://10.0.0.7:5557", "tcp://10.0.0.7:5558"),
                p.events().stream().map(EventEndpoint::endpoint).toList());
    }

    @Test
    void vllms_sources_are_read_in_an_envelope_too() throws ProbeException {
        String bare = vllm().body("/kv_event_sources");
        List<EventEndpoint> events = probe(vllm()).learn(SPEC).events();
        assertFalse(events.isEmpty());
        WorkerProfile p =
                probe(vllm().answer("/kv_event_sources", "{\"sources\":" + bare + "}")).learn(SPEC);
        assertEquals(events, p.events());
        assertEquals(List.of(), p.unread());
    }

    @Test
    void vllm_ranks_in_a_list_are_taken_as_they_are() throws ProbeException {
        FakeEngine engine =
                vllm().answer(
                                "/kv_event_sources",
                                """
                                [{"data_parallel_rank":1,"endpoint":"tcp://10.0.0.9:6001",
                                  "replay_endpoint":null,"topic":"a"},
                                 {"data_parallel_rank":0,"endpoint":"tcp://10.0.0.9:6000",
                                  "replay_endpoint":"tcp://10.0.0.9:6100","topic":"a"}]
                                """);
        assertEquals(
                List.of(
                        new EventEndpoint(
                                0, "tcp://10.0.0.9:6000", false, "tcp://10.0.0.9:6100", "a"),
                        new EventEndpoint(1, "tcp://10.0.0.9:6001", false, null, "a")),
                probe(engine).learn(SPEC).events());
    }

    @Test
    void an_older_vllm_keeps_what_it_does_not_tell_from_configuration() throws ProbeException {
        FakeEngine engine = vllm().status("/kv_event_sources", 404).status("/metrics", 404);
        WorkerProfile told =
                probe(engine).learn(spec(null, Set.of(), 64, 2, "tcp://10.0.0.7:5557"));
        assertEquals(64, told.blockSize());
        assertEquals(
                List.of("tcp://10.0.0.7:5557", "tcp://10.0.0.7:5558"),
                told.events().stream().map(EventEndpoint::endpoint).toList());
        WorkerProfile assumed = probe(engine).learn(SPEC);
        assertEquals(16, assumed.blockSize());
        assertTrue(assumed.blockSizeAssumed());
        assertEquals(List.of(), assumed.events());
    }

    @Test
    void an_unknown_engine_is_plain_openai() throws ProbeException {
        FakeEngine engine = new FakeEngine().recorded("/v1/models", "vllm-models.json");
        WorkerProfile p = probe(engine).learn(SPEC);
        assertEquals(EngineKind.OPENAI, p.kind());
        assertEquals(1, p.dpSize());
    }

    @Test
    void an_engine_that_answers_every_path_with_a_page_is_plain_openai() throws ProbeException {
        FakeEngine engine =
                new FakeEngine()
                        .recorded("/v1/models", "vllm-models.json")
                        .answer("/server_info", "<html>")
                        .answer("/version", "<html>");
        assertEquals(EngineKind.OPENAI, probe(engine).learn(SPEC).kind());
    }

    @Test
    void the_operators_word_goes_before_the_engines() throws ProbeException {
        FakeEngine engine = sglang("sglang-server_info.json");
        WorkerProfile p =
                probe(engine)
                        .learn(spec(EngineKind.SGLANG, Set.of("alias"), 8, 1, "tcp://relay:7000"));
        assertEquals(Set.of("alias"), p.served().names());
        assertEquals(8, p.blockSize());
        assertEquals(
                List.of(new EventEndpoint(0, "tcp://relay:7000", false, null, "t")), p.events());
        assertFalse(engine.asked().contains("/v1/models"));
        assertFalse(engine.asked().contains("/version"));
    }

    @Test
    void what_an_engine_cannot_answer_is_named() {
        ProbeException down =
                assertThrows(
                        ProbeException.class, () -> probe(new FakeEngine().down()).learn(SPEC));
        assertEquals(
                "connection refused; is the engine still starting, and is that the port of the"
                        + " engine's HTTP API?",
                down.getMessage());
        ProbeException loading =
                assertThrows(
                        ProbeException.class,
                        () -> probe(new FakeEngine().status("/v1/models", 503)).learn(SPEC));
        assertEquals(
                "GET /v1/models answered 503; is the engine still starting?", loading.getMessage());
        ProbeException odd =
                assertThrows(
                        ProbeException.class,
                        () -> probe(new FakeEngine().answer("/v1/models", "{}")).learn(SPEC));
        assertTrue(odd.getMessage().contains("no list named data"), odd.getMessage());
    }

    /** vLLM does both while it starts; told in turn, they would be a line each time. */
    @Test
    void a_connection_that_is_closed_is_told_alike_however_it_was() {
        Set<String> told = new HashSet<>();
        for (String how :
                List.of(
                        "Connection was closed",
                        "recvAddress(..) failed with error(-104): Connection reset by peer",
                        "Connection reset by peer")) {
            ProbeException closed =
                    assertThrows(
                            ProbeException.class,
                            () -> probe(new FakeEngine().breaking(how)).learn(SPEC));
            told.add(closed.getMessage());
        }
        assertEquals(
                Set.of(
                        "the connection was closed without an answer; is the engine still"
                                + " starting, and is that the port of the engine's HTTP API?"),
                told);
    }

    @Test
    void where_record_and_engine_disagree_the_record_counts_and_it_is_said() throws Exception {
        WorkerProfile said = probe(vllm()).learn(SPEC);
        assertEquals(List.of(), said.disagreements());
        WorkerProfile told =
                probe(vllm())
                        .learn(
                                new WorkerSpecBuilder(SPEC.url())
                                        .blockSize(said.blockSize() * 2)
                                        .capacity(new Capacity(7, said.capacity().kvBlocks() + 1))
                                        .build());
        assertEquals(said.blockSize() * 2, told.blockSize());
        assertEquals(7, told.capacity().batchedTokens());
        assertEquals(2, told.disagreements().size(), told.disagreements().toString());
        assertEquals(
                "block-size: %d by its record, %d by its engine"
                        .formatted(said.blockSize() * 2, said.blockSize()),
                told.disagreements().get(0));
    }

    private static WorkerProbe.Verdict health(FakeEngine engine) {
        return probe(engine).health(SPEC, EngineKind.VLLM).verdict();
    }

    private static void assertHealth(
            EngineKind kind, FakeEngine engine, WorkerProbe.Verdict verdict, String... asked) {
        assertEquals(verdict, probe(engine).health(SPEC, kind).verdict());
        assertEquals(List.of(asked), engine.asked());
    }

    @Test
    void sglang_is_asked_for_its_flags_and_generates_only_on_suspicion() {
        FakeEngine well = new FakeEngine().answer("/ready", "").answer("/health", "");
        assertHealth(EngineKind.SGLANG, well, WorkerProbe.Verdict.OK, "/ready");
        assertEquals(
                WorkerProbe.Verdict.OK, probe(well).deepHealth(SPEC, EngineKind.SGLANG).verdict());
        assertEquals(List.of("/health"), well.patiently());
        assertHealth(
                EngineKind.SGLANG,
                new FakeEngine().status("/ready", 503).answer("/ping", ""),
                WorkerProbe.Verdict.DRAINING,
                "/ready",
                "/ping");
        FakeEngine flagged = new FakeEngine().status("/ready", 503).status("/ping", 503);
        assertHealth(
                EngineKind.SGLANG,
                flagged.answer("/health", ""),
                WorkerProbe.Verdict.OK, // somebody's check was late once: the flag stays
                "/ready",
                "/ping",
                "/health");
        assertEquals(List.of("/health"), flagged.patiently());
        assertHealth(
                EngineKind.SGLANG,
                new FakeEngine().status("/ready", 503).status("/ping", 503).status("/health", 503),
                WorkerProbe.Verdict.UNAVAILABLE, // starts, or ends
                "/ready",
                "/ping",
                "/health");
        assertHealth(
                EngineKind.SGLANG,
                new FakeEngine().answer("/v1/models", "{}"),
                WorkerProbe.Verdict.OK, // a release without /ready
                "/ready",
                "/v1/models");
    }

    @Test
    void an_unknown_engine_without_a_path_for_health_is_asked_for_its_models() {
        assertHealth(
                EngineKind.OPENAI,
                new FakeEngine().answer("/v1/models", "{}"),
                WorkerProbe.Verdict.OK,
                "/health",
                "/v1/models");
        assertHealth(
                EngineKind.OPENAI,
                new FakeEngine().status("/health", 500).answer("/v1/models", "{}"),
                WorkerProbe.Verdict.FAILING,
                "/health");
    }

    @Test
    void the_operators_own_path_is_the_only_question() {
        for (EngineKind kind : EngineKind.values()) {
            FakeEngine engine = new FakeEngine().answer("/up", "");
            DialectProbe probe =
                    new DialectProbe(
                            engine,
                            new OpenAiModels(),
                            List.of(new SglangDialect(), new VllmDialect()),
                            Optional.of("/up"),
                            Duration.ofSeconds(25),
                            served -> 16);
            assertEquals(WorkerProbe.Verdict.OK, probe.health(SPEC, kind).verdict());
            assertEquals(WorkerProbe.Verdict.OK, probe.deepHealth(SPEC, kind).verdict());
            assertEquals(List.of("/up", "/up"), engine.asked());
        }
    }

    @Test
    void health_tells_busy_from_gone_and_from_leaving() {
        assertEquals(WorkerProbe.Verdict.OK, health(new FakeEngine().answer("/health", "")));
        assertEquals(WorkerProbe.Verdict.FAILING, health(new FakeEngine().status("/health", 500)));
        assertEquals(
                WorkerProbe.Verdict.UNAVAILABLE, health(new FakeEngine().status("/health", 503)));
        assertEquals(WorkerProbe.Verdict.REFUSED, health(new FakeEngine().down()));
        assertEquals(
                WorkerProbe.Verdict.DRAINING,
                health(new FakeEngine().answer("/health", "{\"status\": \"draining\"}")));
        assertEquals(
                WorkerProbe.Verdict.OK,
                health(new FakeEngine().answer("/health", "{\"status\": \"undrainable\"}")));
    }

    /** 105 blocks of 16,384 bytes in 54 ms. Releases before count no such tokens. */
    @Test
    void vllm_tells_what_its_nixl_connector_has_fetched() throws Exception {
        FakeEngine engine = new FakeEngine().recorded("/metrics", "vllm-nixl-metrics.txt");
        MovedKv moved = new MovedKv(3300, 105 * 16_384, 6, 0.054476);
        assertEquals(
                List.of(new EngineLoad(0, 0, 0, -1, 0, moved, null)),
                probe(engine).load(SPEC, EngineKind.VLLM));
        FakeEngine older =
                new FakeEngine()
                        .answer(
                                "/metrics",
                                "vllm:nixl_bytes_transferred_sum{engine=\"0\"} 1e+07\n");
        assertEquals(
                List.of(new EngineLoad(0, 0, 0, -1, -1)), probe(older).load(SPEC, EngineKind.VLLM));
    }

    @Test
    void engines_tell_what_each_rank_is_doing() throws Exception {
        String loads =
                """
                {"timestamp": "t", "version": "0.5.23", "loads": [
                 {"dp_rank": 0, "num_running_reqs": 3, "num_waiting_reqs": 2,
                  "num_used_tokens": 640, "max_total_num_tokens": 10000, "token_usage": 0.064},
                 {"dp_rank": 1, "num_running_reqs": 0, "num_waiting_reqs": 0}]}
                """;
        assertEquals(
                List.of(new EngineLoad(0, 3, 2, 640, 0.064), new EngineLoad(1, 0, 0, -1, -1)),
                probe(new FakeEngine().answer("/v1/loads?include=core,lora", loads))
                        .load(SPEC, EngineKind.SGLANG));
        assertEquals(
                List.of(new EngineLoad(0, 5, 2, 99, -1)),
                probe(
                                new FakeEngine()
                                        .answer(
                                                "/get_load",
                                                "[{\"dp_rank\":0,\"num_reqs\":7,"
                                                        + "\"num_waiting_reqs\":2,"
                                                        + "\"num_tokens\":99}]"))
                        .load(SPEC, EngineKind.SGLANG),
                "as older releases say it");
        assertThrows(
                ProbeException.class,
                () ->
                        probe(new FakeEngine().answer("/v1/loads?include=core,lora", "busy"))
                                .load(SPEC, EngineKind.SGLANG));
        assertEquals(
                List.of(new EngineLoad(0, 4, 1, -1, 0.25), new EngineLoad(1, 0, 0, -1, 0.5)),
                probe(
                                new FakeEngine()
                                        .answer(
                                                "/metrics",
                                                """
                                                # TYPE vllm:num_requests_running gauge
                                                vllm:num_requests_running{engine="0",m="a"} 4.0
                                                vllm:num_requests_running{engine="1",m="a"} 0.0
                                                vllm:num_requests_waiting{engine="0",m="a"} 1.0
                                                vllm:num_requests_waiting_by_x{engine="0"} 77
                                                vllm:kv_cache_usage_perc{engine="0",m="a"} 0.25
                                                vllm:kv_cache_usage_perc{m="a",engine="1"} 0.5
                                                """))
                        .load(SPEC, EngineKind.VLLM));
        assertEquals(
                1, probe(vllm()).load(SPEC, EngineKind.VLLM).size(), "a recorded page has them");
        assertEquals(List.of(), probe(new FakeEngine()).load(SPEC, EngineKind.OPENAI));
        assertEquals(List.of(), probe(new FakeEngine()).load(SPEC, EngineKind.SGLANG));
    }

    private static List<AdapterSlots> adapters(FakeEngine engine, EngineKind kind)
            throws ProbeException {
        return probe(engine).load(SPEC, kind).stream().map(EngineLoad::adapters).toList();
    }

    /** Recorded while two adapters ran and a third one waited, which vLLM does not tell. */
    @Test
    void engines_tell_how_many_adapters_they_compute_at_once_and_which() throws Exception {
        String metrics =
                Files.readString(Path.of("src/test/resources/engines/vllm-lora-metrics.txt"));
        assertEquals(
                List.of(new AdapterSlots(2, Set.of("law", "tax"), 2)),
                adapters(new FakeEngine().answer("/metrics", metrics), EngineKind.VLLM));
        String second = "vllm:num_requests_running{engine=\"1\",model_name=\"tiny\"} 1.0\n";
        assertEquals(
                Arrays.asList(null, null),
                adapters(new FakeEngine().answer("/metrics", second + metrics), EngineKind.VLLM),
                "of which rank is not told");
        String loads =
                Files.readString(Path.of("src/test/resources/engines/sglang-lora-loads.json"));
        String path = "/v1/loads?include=core,lora";
        assertEquals(
                Arrays.asList((AdapterSlots) null),
                adapters(new FakeEngine().answer(path, loads), EngineKind.SGLANG),
                "started without metrics it counts nothing");
        assertEquals(
                List.of(new AdapterSlots(2, Set.of(), 1)),
                adapters(
                        new FakeEngine()
                                .answer(
                                        path,
                                        loads.replace(
                                                "\"slots_used\":0,\"slots_total\":0",
                                                "\"slots_used\":1,\"slots_total\":2")),
                        EngineKind.SGLANG));
        String limited = "{\"page_size\": 16, \"enable_lora\": true, \"max_loras_per_batch\": 3}";
        assertEquals(3, probe(info(limited)).learn(SPEC).capacity().adapters());
    }

    @Test
    void a_list_of_models_without_end_is_cut_and_told() throws Exception {
        String many =
                IntStream.range(0, 5_000)
                        .mapToObj(i -> "{\"id\":\"adapter-" + i + "\"}")
                        .collect(Collectors.joining(",", "{\"data\":[", "]}"));
        WorkerProfile cut = probe(new FakeEngine().answer("/v1/models", many)).learn(SPEC);
        assertEquals(1_000, cut.served().names().size());
        assertTrue(cut.served().names().contains("adapter-0"));
        assertTrue(cut.served().names().contains("adapter-999"));
        assertEquals(
                List.of(
                        "models: 5000 are listed, the first 1000 of at most 256 characters are"
                                + " used, 4000 left out"),
                cut.disagreements());
        String longName = "{\"data\":[{\"id\":\"" + "x".repeat(257) + "\"},{\"id\":\"m\"}]}";
        WorkerProfile one = probe(new FakeEngine().answer("/v1/models", longName)).learn(SPEC);
        assertEquals(Set.of("m"), one.served().names());
        assertTrue(
                one.disagreements().get(0).endsWith("1 left out"), one.disagreements()::toString);
        // Those that the operator's record names are the operator's business.
        Set<String> own = new HashSet<>();
        IntStream.range(0, 1_001).forEach(i -> own.add("m" + i));
        assertEquals(
                own, probe(new FakeEngine()).learn(spec(null, own, 16, 1, null)).served().names());
    }
}
