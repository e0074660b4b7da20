package io.warmpath.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyRingTest {
    private static final String KEY = "wp-0123456789";
    private static final String HEX =
            "1f1d0d7a0dbc5d5a9d3e5a1cde11ac1ac4d3bd4ea37f2d4dd4ed2bcd11a0a0d1";

    private static Map<String, Object> record(Object... members) {
        Map<String, Object> m = new HashMap<>();
        m.put("name", "a");
        m.put("sha256", KeyHash.of(KEY).hex());
        for (int i = 0; i < members.length; i += 2) {
            m.put((String) members[i], members[i + 1]);
        }
        return m;
    }

    private static List<KeyRecord> read(Object... records) {
        return KeyFile.read(Map.of("keys", List.of(records)));
    }

    @Test
    void a_weight_is_1_unless_it_is_said() {
        assertEquals(1, read(record()).getFirst().grant().weight());
        assertEquals(1_000, read(record("weight", 1_000)).getFirst().grant().weight());
        for (Object wrong : List.of(0, -3, 1_001, Long.MAX_VALUE, 1.5, "2")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> read(record("weight", wrong)),
                    wrong::toString);
        }
    }

    @Test
    void a_key_is_told_why_only_where_its_record_says_so() {
        assertFalse(read(record()).getFirst().grant().explain());
        assertTrue(read(record("explain", true)).getFirst().grant().explain());
        assertThrows(IllegalArgumentException.class, () -> read(record("explain", "yes")));
    }

    @Test
    void the_hash_is_sha_256_as_other_tools_make_it() {
        assertEquals(
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                KeyHash.of("abc").hex());
    }

    @Test
    void a_key_is_known_until_it_expires_and_no_other_one_is() {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-01T00:00:00Z"));
        List<KeyRecord> records = read(record("expires", "2026-12-01T00:00:00Z"));
        KeyRing ring = new KeyRing(records, new Budgets(10), now::get, () -> 0);
        assertEquals("a", assertInstanceOf(Caller.class, ring.check(KEY)).grant().name());
        for (String other : List.of(KEY + "0", KEY.substring(1), KeyHash.of(KEY).hex(), "x")) {
            assertInstanceOf(Verdict.Refused.class, ring.check(other));
        }
        now.set(Instant.parse("2026-12-01T00:00:00Z"));
        assertTrue(
                assertInstanceOf(Verdict.Refused.class, ring.check(KEY)).why().contains("expired"));
    }

    @Test
    void only_a_record_that_says_so_may_hand_requests_over() {
        assertTrue(read(record("hand-off", true)).getFirst().grant().handOff());
        assertFalse(read(record("hand-off", false)).getFirst().grant().handOff());
        assertFalse(read(record()).getFirst().grant().handOff());
        assertFalse(Grant.all("a").handOff());
    }

    @Test
    void keys_that_are_read_again_keep_what_they_had_used() {
        Budgets budgets = new Budgets(10);
        List<KeyRecord> two = read(record("requests-per-minute", 2));
        Caller before = caller(new KeyRing(two, budgets, Instant::now, () -> 0));
        before.requests().take(2, 0);
        Caller after = caller(new KeyRing(two, budgets, Instant::now, () -> 0));
        assertSame(before.requests(), after.requests());
        List<KeyRecord> three = read(record("requests-per-minute", 3));
        Caller other = caller(new KeyRing(three, budgets, Instant::now, () -> 0));
        assertEquals(3, other.requests().remaining(0));
    }

    private static Caller caller(KeyRing ring) {
        return assertInstanceOf(Caller.class, ring.check(KEY));
    }

    @Test
    void names_of_many_clients_do_not_fill_memory() {
        Budgets budgets = new Budgets(2);
        Budget first = budgets.of(limited("one"), 0).requests();
        budgets.of(limited("two"), 0);
        assertSame(first, budgets.of(limited("one"), 0).requests(), "used again");
        budgets.of(limited("three"), 0);
        assertSame(first, budgets.of(limited("one"), 0).requests(), "two was the oldest");
    }

    private static Grant limited(String name) {
        return new Grant(name, "", false, List.of(), 1, 0, "", 1, false, false, false);
    }

    @Test
    void a_mistake_in_the_file_is_named_by_its_place_and_never_repeats_a_key() {
        List<Map.Entry<String, Object>> wrong = new ArrayList<>();
        wrong.add(Map.entry("keys[0].sha256", record("sha256", KEY)));
        wrong.add(Map.entry("keys[0].key is not known", record("key", KEY)));
        wrong.add(Map.entry("keys[0].models", record("models", "m")));
        wrong.add(Map.entry("keys[0].models is empty", record("models", List.of())));
        wrong.add(Map.entry("keys[0].requests-per-minute", record("requests-per-minute", "many")));
        wrong.add(Map.entry("keys[0]: a limit", record("tokens-per-minute", -1)));
        wrong.add(Map.entry("keys[0]: a tenant", record("tenant", "a:b")));
        wrong.add(Map.entry("keys[0].names-tenants", record("names-tenants", "yes")));
        wrong.add(Map.entry("keys[0].hand-off", record("hand-off", "yes")));
        wrong.add(Map.entry("keys[0].expires", record("expires", "soon")));
        wrong.add(Map.entry("keys[0].name", record("name", "")));
        for (Map.Entry<String, Object> w : wrong) {
            String said =
                    String.valueOf(
                            assertThrows(IllegalArgumentException.class, () -> read(w.getValue()))
                                    .getMessage());
            assertTrue(said.startsWith(w.getKey()), said);
            assertFalse(said.contains(KEY), said);
        }
        assertThrows(IllegalArgumentException.class, () -> KeyFile.read(null));
        assertThrows(IllegalArgumentException.class, () -> read(record(), record()), "same name");
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        new KeyRing(
                                read(record(), record("name", "b")),
                                new Budgets(1),
                                Instant::now,
                                () -> 0),
                "same key");
    }

    @ParameterizedTest
    @CsvSource({
        "llama-8b, true",
        "llama-, true",
        "llama, false",
        "exact, true",
        "exact2, false",
        "xllama-8b, false",
        "'', false"
    })
    void an_allow_list_has_names_and_beginnings(String model, boolean allowed) {
        Grant grant =
                new Grant(
                        "a",
                        "",
                        false,
                        List.of("llama-*", "exact"),
                        0,
                        0,
                        "",
                        1,
                        false,
                        false,
                        false);
        assertEquals(allowed, grant.allows(model));
        assertTrue(Grant.all("b").allows(model));
    }

    @Test
    void no_client_can_make_its_salt_another_tenants() {
        List<String> tenants = List.of("", "a", "b", "ab", "a.b");
        List<String> own = List.of("", "a", "b", ":", "a:", ":a", "b:a", "a:b", "ab");
        Map<String, String> made = new HashMap<>();
        for (String tenant : tenants) {
            for (String salt : own) {
                String who = tenant + " and " + salt;
                String before = made.put(visit(tenant).salt(salt), who);
                assertTrue(before == null, () -> before + " is the same as " + who);
            }
        }
        assertEquals("", visit("").salt(""), "without a tenant nothing is changed");
        assertNotEquals("a", visit("").salt("a"), "that is the tenant a");
    }

    private static Visit visit(String tenant) {
        return new Visit(new Caller(Grant.all("k"), new Budgets(1), () -> 0), tenant);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0ms",
        "1, 1ms",
        "999000000, 999ms",
        "1250000000, 1.25s",
        "60000000000, 1m0s",
        "90500000000, 1m30.5s"
    })
    void spans_are_written_as_openai_writes_them(long nanos, String text) {
        assertEquals(text, Visit.span(nanos));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "zz", "abc", HEX + "00"})
    void only_64_hexadecimal_digits_are_a_hash(String text) {
        assertThrows(IllegalArgumentException.class, () -> KeyHash.ofHex(text));
    }
}
