package io.warmpath.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.adapter.openai.OpenAiModels;
import io.warmpath.adapter.vllm.VllmDialect;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.probe.DialectProbe;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.gateway.pin.WarmRequest;
import io.warmpath.gateway.request.Half;
import io.warmpath.gateway.request.Halves;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A vLLM server with part of a group's data-parallel ranks ({@code --data-parallel-start-rank},
 * {@code --data-parallel-rank}): what it numbers through the group, and what from 0.
 */
class LocalRanksTest {
    private static final URI URL = URI.create("http://10.0.0.7:8000");

    /** As vLLM 0.32 has it: endpoints with the rank's own port. */
    private static final String OBJECT =
            "{'2':{'publisher':'zmq','endpoint':'tcp://*:5559','topic':''},"
                    + "'3':{'publisher':'zmq','endpoint':'tcp://*:5560','topic':''}}";

    private static final String SAME =
            "{'2':{'publisher':'zmq','endpoint':'tcp://*:5557','topic':''},"
                    + "'3':{'publisher':'zmq','endpoint':'tcp://*:5557','topic':''}}";
    private static final String LIST =
            "[{'data_parallel_rank':3,'endpoint':'tcp://*:5560'},"
                    + "{'data_parallel_rank':2,'endpoint':'tcp://*:5559'}]";
    private static final String ALONE = "{'3':{'publisher':'zmq','endpoint':'tcp://*:5560'}}";
    private static final String GAUGES =
            """
            vllm:num_requests_running{engine="2",model_name="m"} 20.0
            vllm:num_requests_running{engine="3",model_name="m"} 30.0
            """;

    private static WorkerSpecBuilder spec() {
        return new WorkerSpecBuilder(URL);
    }

    private static DialectProbe probe(FakeEngine engine) {
        return new DialectProbe(
                engine.answer("/v1/models", "{\"data\":[{\"id\":\"m\"}]}")
                        .answer("/version", "{\"version\":\"0.32.0\"}"),
                new OpenAiModels(),
                List.of(new VllmDialect()),
                Optional.empty(),
                Duration.ofSeconds(25),
                served -> 16);
    }

    private static WorkerProfile learnt(String sources, WorkerSpec spec) throws Exception {
        String json = sources.replace('\'', '"');
        return probe(new FakeEngine().answer("/kv_event_sources", json)).learn(spec);
    }

    private static List<String> sockets(WorkerProfile p) {
        return p.events().stream().map(e -> e.dpRank() + " " + e.endpoint()).toList();
    }

    @Test
    void there_are_as_many_ranks_as_sources() throws Exception {
        for (String sources : List.of(OBJECT, SAME, LIST)) {
            WorkerProfile p = learnt(sources, spec().build());
            assertEquals(new EngineRanks(2, 2, false), p.ranks(), sources);
            assertEquals(List.of("0 tcp://10.0.0.7:5559", "1 tcp://10.0.0.7:5560"), sockets(p));
            assertEquals(List.of(), p.disagreements());
        }
        for (int set : List.of(0, 1)) {
            WorkerProfile p = learnt(ALONE, spec().dpSize(set).build());
            assertEquals(new EngineRanks(1, 3, false), p.ranks());
            assertEquals(List.of("0 tcp://10.0.0.7:5560"), sockets(p));
        }
    }

    @Test
    void the_first_ranks_of_a_group_are_as_those_of_a_server_with_all() throws Exception {
        WorkerProfile p =
                learnt(OBJECT.replace("'2'", "'0'").replace("'3'", "'1'"), spec().build());
        assertEquals(new EngineRanks(2, 0, false), p.ranks());
    }

    @Test
    void a_socket_that_an_operator_names_is_the_first_ranks_and_gauges_tell_its_number()
            throws Exception {
        WorkerSpec spec = spec().dpSize(2).events("tcp://10.0.0.7:5559", null, false, "").build();
        FakeEngine silent = new FakeEngine();
        WorkerProfile unknown = probe(silent).learn(spec);
        assertEquals(new EngineRanks(2, 0, true), unknown.ranks());
        assertEquals(List.of("0 tcp://10.0.0.7:5559", "1 tcp://10.0.0.7:5560"), sockets(unknown));
        FakeEngine older = new FakeEngine().answer("/metrics", GAUGES);
        assertEquals(new EngineRanks(2, 2, true), probe(older).learn(spec).ranks());
        assertEquals(new EngineRanks(2, 2, true), learnt(LIST, spec).ranks());
    }

    @ParameterizedTest
    @CsvSource({"2,0", "3,1", "0,-1", "1,-1", "4,-1"})
    void a_gauge_of_the_group_is_that_of_a_rank_or_of_none(int number, int rank) throws Exception {
        String gauge = "vllm:num_requests_running{engine=\"%d\"} 7.0\n".formatted(number);
        EngineLoad load =
                probe(new FakeEngine().answer("/metrics", gauge))
                        .load(spec().build(), EngineKind.VLLM)
                        .getFirst();
        int local = learnt(LIST, spec().build()).ranks().local(load.dpRank());
        assertEquals(rank, Math.max(-1, local));
    }

    /** Every way out counts the ranks of the server that is asked. */
    @Test
    void requests_and_registries_name_the_servers_own_ranks() throws Exception {
        WorkerProfile p = learnt(LIST, spec().build());
        List<String> asked = new ArrayList<>();
        List<String> engines = new ArrayList<>();
        try (ReferencePrefixIndex index = new ReferencePrefixIndex()) {
            FleetRegistry fleet = new FleetRegistry(index, String::hashCode, s -> {});
            long id = fleet.add(spec().build()).id();
            fleet.learnt(id, p, false);
            Worker w = fleet.find("w0").orElseThrow().worker();
            assertEquals(p.ranks(), w.numbers());
            assertEquals(p.ranks(), w.toBuilder().build().numbers());
            Disaggregation mooncake =
                    new Disaggregation(Role.PREFILL, true, 8998, "mooncake", List.of("a", "b"));
            Worker prefills = w.toBuilder().disaggregation(mooncake).build();
            for (Worker.Rank r : w.ranks()) {
                Candidate to = new Candidate(prefills, r.dpRank(), r.slot());
                WarmRequest warm = new WarmRequest("r", to, "m", "", null, new int[] {1}, "");
                asked.add(warm.upstream().extra().get("X-data-parallel-rank"));
                Half decode = Halves.of(to, () -> 1).decode();
                engines.add(decode instanceof Half.Take take ? take.engine() : "none");
            }
        }
        assertEquals(List.of("0", "1"), asked);
        assertEquals(List.of("a", "b"), engines);
        assertEquals(List.of(0, 1), p.events().stream().map(EventEndpoint::dpRank).toList());
    }
}
