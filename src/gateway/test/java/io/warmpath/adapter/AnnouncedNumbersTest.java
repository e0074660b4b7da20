package io.warmpath.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.Allocated;
import io.warmpath.adapter.openai.OpenAiModels;
import io.warmpath.adapter.sglang.SglangDialect;
import io.warmpath.adapter.trtllm.TrtllmDialect;
import io.warmpath.adapter.vllm.VllmDialect;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.probe.DialectProbe;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that say numbers no engine has: nothing is allocated for them, or counted up to. */
class AnnouncedNumbersTest {
    private static final WorkerSpec SPEC = WorkerSpec.of("http://10.0.0.7:30000");
    private static final String MODELS = "{\"data\":[{\"id\":\"m\"}]}";
    private static final int MOST_ALLOCATED = 4 << 20;

    private static WorkerProbe probe(FakeEngine engine) {
        return new DialectProbe(
                engine.answer("/v1/models", MODELS),
                new OpenAiModels(),
                List.of(new SglangDialect(), new TrtllmDialect(), new VllmDialect()),
                Optional.empty(),
                Duration.ofSeconds(25),
                served -> 16);
    }

    /** Ranks that are learnt. */
    private static int ranks(FakeEngine engine) {
        int[] ranks = new int[1];
        long taken =
                Allocated.by(
                        () -> {
                            try {
                                WorkerProfile learnt = probe(engine).learn(SPEC);
                                ranks[0] = learnt.dpSize();
                                for (EventEndpoint e : learnt.events()) {
                                    assertTrue(e.dpRank() >= 0 && e.dpRank() < ranks[0]);
                                }
                            } catch (ProbeException e) {
                                throw new AssertionError("it serves all the same", e);
                            }
                        });
        assertTrue(taken < MOST_ALLOCATED, taken + " bytes");
        return ranks[0];
    }

    /** One that tells of more than there can be serves as one rank, whose events are not known. */
    @ParameterizedTest
    @ValueSource(strings = {"1025", "2147483647", "1099511627776", "-1", "1e300", "\"9999999\""})
    void ranks_of_sglang(String number) throws ProbeException {
        FakeEngine plain =
                new FakeEngine()
                        .answer("/server_info", "{\"page_size\":16,\"dp_size\":" + number + "}");
        assertEquals(1, ranks(plain));
        if (!number.equals("-1")) {
            assertTrue(
                    probe(plain).learn(SPEC).noEvents().contains("data-parallel ranks"),
                    probe(plain).learn(SPEC).toString());
        }
        assertEquals(
                1,
                ranks(
                        new FakeEngine()
                                .answer(
                                        "/server_info",
                                        "{\"page_size\":16,\"kv_events\":{\"publisher\":\"zmq\","
                                                + "\"endpoint_port_base\":5557,\"dp_size\":"
                                                + number
                                                + "}}")));
    }

    @Test
    void as_many_ranks_as_may_be_are_learnt() {
        assertEquals(
                1024,
                ranks(
                        new FakeEngine()
                                .answer("/server_info", "{\"page_size\":16,\"dp_size\":1024}")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1024", "2147483647", "4294967295", "-1"})
    void ranks_of_vllm(String rank) {
        FakeEngine engine = new FakeEngine().answer("/version", "{\"version\":\"0.32.0\"}");
        String source = "{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\"}";
        assertEquals(
                1, ranks(engine.answer("/kv_event_sources", "{\"" + rank + "\":" + source + "}")));
        ranks(
                engine.answer(
                        "/kv_event_sources",
                        "[{\"data_parallel_rank\":" + rank + ",\"endpoint\":\"tcp://*:1\"}]"));
    }

    @Test
    void loads_of_more_ranks_than_there_are() throws Exception {
        String loads = "{\"loads\":[" + "{},".repeat(200_000) + "{}]}";
        FakeEngine engine = new FakeEngine().answer("/v1/loads?include=core,lora", loads);
        assertEquals(WorkerSpec.MAX_DP_SIZE, probe(engine).load(SPEC, EngineKind.SGLANG).size());
    }
}
