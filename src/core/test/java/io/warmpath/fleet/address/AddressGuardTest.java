package io.warmpath.fleet.address;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.net.InetAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Records, told places and connections before the rules. */
class AddressGuardTest {
    private static final String METADATA = "http://169.254.169.254:80";

    private final List<String> log = new ArrayList<>();
    private final AddressGuard guard = new AddressGuard(AddressRules.of(List.of("*")), log::add);
    private final FleetRegistry fleet =
            new FleetRegistry(new ReferencePrefixIndex(), String::hashCode, s -> {});
    private final FleetSources sources = new FleetSources(fleet, log::add);

    private FleetSource.Feed feed(SourceName source) {
        return guard.feed(source, sources.feed(source));
    }

    private Set<String> urls() {
        return Set.copyOf(fleet.status().stream().map(s -> s.worker().url().toString()).toList());
    }

    private static Map<String, Object> pool(String master) {
        return Map.of("page_size", 64, "master_server_address", master);
    }

    private static WorkerSpecBuilder worker() {
        return new WorkerSpecBuilder(URI.create("http://10.0.0.1:8000"));
    }

    private static InetAddress address(String text) throws Exception {
        return InetAddress.getByName(text);
    }

    @Test
    void every_place_of_a_record_is_judged() {
        assertEquals(Optional.empty(), guard.refusal(worker().build(), false));
        Map<String, WorkerSpec> wrong =
                Map.of(
                        "url", WorkerSpec.of(METADATA),
                        "events-endpoint",
                                worker().events("tcp://127.0.0.1:5557", null, false, "").build(),
                        "replay-endpoint",
                                worker().events("tcp://10.0.0.1:5557", "ipc:///x", false, "")
                                        .build(),
                        "sglang_hicache_mooncake",
                                worker().pool(HiCacheMetadata.of(pool("[::1]:50051"))).build());
        wrong.forEach(
                (field, spec) -> {
                    String why = guard.refusal(spec, false).orElseThrow();
                    assertTrue(why.startsWith(field + ": "), why);
                });
        assertEquals(wrong.size(), guard.refused(AddressGuard.At.RECORD));
    }

    @Test
    void what_this_side_binds_is_nowhere_to_connect_to() {
        WorkerSpec bound = worker().events("tcp://*:5557", null, true, "").build();
        assertEquals(Optional.empty(), guard.refusal(bound, false));
        WorkerSpec file = worker().events("ipc:///run/x", null, true, "").build();
        assertTrue(guard.refusal(file, false).isPresent(), "a file there would be replaced");
    }

    @Test
    void a_source_outside_cannot_name_what_the_rules_refuse() {
        for (SourceName source : List.of(SourceName.NATS, SourceName.KUBERNETES)) {
            log.clear();
            FleetSource.Feed outside = feed(source);
            outside.put("a", WorkerSpec.of("http://10.0.0.1:1"));
            outside.put("b", WorkerSpec.of(METADATA));
            outside.put("b", WorkerSpec.of(METADATA));
            assertEquals(Set.of("http://10.0.0.1:1"), urls());
            assertEquals(1, log.size(), "told once");
            assertTrue(
                    log.get(0).contains("(told by " + source.word() + ") is left out"), log.get(0));
            outside.put("a", WorkerSpec.of(METADATA));
            assertEquals(
                    WorkerState.DRAINING,
                    fleet.status().get(0).worker().state(),
                    "what it said before counts no more");
            outside.replace(
                    Map.of("a", WorkerSpec.of("http://10.0.0.1:1"), "c", WorkerSpec.of(METADATA)));
            assertEquals(Set.of("http://10.0.0.1:1"), urls());
            outside.remove("a");
        }
    }

    @Test
    void the_configuration_may_name_anything_and_its_names_lead_anywhere() throws Exception {
        assertThrows(
                RefusedAddressException.class,
                () -> guard.check(Place.of(URI.create("http://engine:1")), address("127.0.0.1")));
        feed(SourceName.CONFIG)
                .replace(
                        Map.of(
                                "0", WorkerSpec.of(METADATA),
                                "1", WorkerSpec.of("http://engine:1")));
        assertEquals(Set.of(METADATA, "http://engine:1"), urls());
        assertFalse(guard.judges("engine"));
        guard.check(Place.of(URI.create("http://engine:1")), address("127.0.0.1"));
    }

    @Test
    void a_name_that_changes_where_it_leads_is_refused_and_told_once_per_change() throws Exception {
        Place engine = Place.of(URI.create("http://engine:1"));
        guard.check(engine, address("10.0.0.1"));
        for (int i = 0; i < 3; i++) {
            assertThrows(
                    RefusedAddressException.class,
                    () -> guard.check(engine, address("169.254.169.254")));
        }
        assertEquals(1, log.size());
        assertEquals(3, guard.refused(AddressGuard.At.CONNECT));
        guard.check(engine, address("10.0.0.1"));
        assertThrows(
                RefusedAddressException.class,
                () -> guard.check(engine, address("169.254.169.254")));
        assertEquals(2, log.size());
    }

    @Test
    void what_was_judged_when_it_was_named_is_not_judged_again() {
        assertFalse(guard.judges("127.0.0.1"));
        assertFalse(guard.judges("::1"));
        Place local = Place.of(URI.create("http://localhost:1"));
        assertDoesNotThrow(() -> guard.check(local, address("127.0.0.1")));
        assertThrows(
                RefusedAddressException.class,
                () -> guard.check(local, address("169.254.169.254")),
                "localhost that leads elsewhere");
    }

    @Test
    void many_refused_names_do_not_fill_the_log() {
        for (int i = 0; i < 5000; i++) {
            Place place = Place.of(URI.create("http://e" + i + ".example:1"));
            assertThrows(
                    RefusedAddressException.class, () -> guard.check(place, address("127.0.0.1")));
        }
        assertEquals(1024, log.size());
    }

    @Test
    void an_engine_is_asked_for_its_events_at_its_own_address_and_at_no_other() throws Exception {
        WorkerSpec spec = worker().build();
        String own = EventEndpoint.polled(spec.url()).endpoint();
        assertEquals(own, learnt(spec, own, null).events().getFirst().endpoint());
        for (String other :
                List.of(METADATA + EventEndpoint.POLLED, own + EventEndpoint.POLLED, "http://a")) {
            WorkerProfile judged = learnt(spec, other, null);
            assertEquals(List.of(), judged.events(), other);
            assertTrue(judged.disagreements().getFirst().contains("is neither"), other);
        }
    }

    /** An engine that tells these places. */
    private WorkerProfile learnt(WorkerSpec spec, String events, PoolMetadata pool)
            throws Exception {
        WorkerProfile told =
                new WorkerProfile(
                        EngineKind.SGLANG,
                        "",
                        ServedModels.of(Set.of("m")),
                        16,
                        false,
                        EngineRanks.of(1),
                        Capacity.UNKNOWN,
                        List.of(new EventEndpoint(0, events, false, null, "")),
                        new Offload(HostCopies.NONE, pool),
                        PriorityOrder.NOT_TAKEN,
                        SessionSupport.STICKY,
                        Disaggregation.NONE,
                        CacheTraits.PLAIN,
                        List.of(),
                        List.of(),
                        "");
        WorkerProbe engine =
                new WorkerProbe() {
                    @Override
                    public WorkerProfile learn(WorkerSpec asked) {
                        return told;
                    }

                    @Override
                    public Health health(WorkerSpec asked, EngineKind kind) {
                        return new Health(Verdict.OK, "");
                    }
                };
        return new GuardedProbe(engine, guard).learn(spec);
    }

    @Test
    void an_engine_cannot_send_the_gateway_elsewhere() throws Exception {
        PoolMetadata there = HiCacheMetadata.of(pool("169.254.169.254:50051"));
        WorkerProfile refused = learnt(worker().build(), "tcp://169.254.169.254:80", there);
        assertEquals(List.of(), refused.events());
        PoolMetadata kept = refused.offload().pool();
        assertTrue(kept != null && kept.masterServerAddress().isEmpty());
        assertEquals(2, refused.disagreements().size(), refused.disagreements()::toString);
        assertEquals(2, guard.refused(AddressGuard.At.ENGINE));
        assertEquals(1, learnt(worker().build(), "ipc:///run/x", there).disagreements().size() - 1);
    }

    @Test
    void an_engine_may_have_sockets_on_its_own_host() throws Exception {
        PoolMetadata pool = HiCacheMetadata.of(pool("10.9.9.9:50051"));
        for (String url : List.of("http://10.0.0.1:1", "http://127.0.0.1:1", "unix:///run/e")) {
            String host = EngineAddress.hostOf(URI.create(url));
            WorkerProfile taken = learnt(WorkerSpec.of(url), "tcp://" + host + ":5557", pool);
            assertEquals(1, taken.events().size(), url);
            assertEquals(pool, taken.offload().pool());
        }
        assertEquals(1, learnt(WorkerSpec.of("unix:///e"), "ipc:///f", pool).events().size());
        WorkerSpec told = worker().events("tcp://127.0.0.1:7", null, false, "").build();
        assertEquals(1, learnt(told, "tcp://127.0.0.1:7", pool).events().size(), "by its record");
    }
}
