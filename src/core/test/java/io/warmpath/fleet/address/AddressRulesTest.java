package io.warmpath.fleet.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.WorkerSpec;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be connected to because somebody named it. */
class AddressRulesTest {
    private static AddressRules rules(String... entries) {
        return AddressRules.of(List.of(entries));
    }

    private static Place http(String host) {
        return new Place("http", host, 8000, 1);
    }

    private static Optional<String> usual(String host) {
        return rules("*").refusal(http(host), false);
    }

    private static Optional<String> led(AddressRules rules, String host, String to)
            throws Exception {
        byte[] address = AddressRange.literal(to).orElseThrow();
        return rules.refusal(http(host), InetAddress.getByAddress(host, address));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.1",
                "192.168.1.7",
                "8.8.8.8",
                "100.64.0.1",
                "fd00::17",
                "2001:db8::1",
                "64:ff9b::a00:1",
                "engine",
                "engine.svc.cluster.local",
                "ENGINE.svc.",
                "e_1.x-y.z",
                "3com.example",
                "1e100.net",
                "169.254.169.254.example.org"
            })
    void what_is_of_a_network_may_be_named(String host) {
        assertEquals(Optional.empty(), usual(host));
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.0/8",
        "127.255.1.2, 127.0.0.0/8",
        "::1, 0:0:0:0:0:0:0:1/128",
        "localhost, 127.0.0.0/8",
        "LocalHost., 127.0.0.0/8",
        "a.localhost, 127.0.0.0/8",
        "169.254.169.254, 169.254.169.254/32",
        "169.254.1.1, 169.254.0.0/16",
        "fe80::1, fe80:0:0:0:0:0:0:0/10",
        "febf::1, fe80:0:0:0:0:0:0:0/10",
        "100.100.100.200, 100.100.100.200/32",
        "fd00:ec2::254, fd00:ec2:0:0:0:0:0:254/128",
        "0.0.0.0, 0.0.0.0/8",
        "0.1.2.3, 0.0.0.0/8",
        "::, 0:0:0:0:0:0:0:0/128",
        "224.0.0.1, 224.0.0.0/4",
        "ff02::1, ff00:0:0:0:0:0:0:0/8",
        "255.255.255.255, 240.0.0.0/4",
        // IPv4 in IPv6: mapped, compatible, NAT64, 6to4, Teredo
        "::ffff:127.0.0.1, 127.0.0.0/8",
        "::FFFF:7f00:1, 127.0.0.0/8",
        "0:0:0:0:0:ffff:a9fe:a9fe, 169.254.169.254/32",
        "::127.0.0.1, 127.0.0.0/8",
        "64:ff9b::a9fe:a9fe, 169.254.169.254/32",
        "64:ff9b::127.0.0.1, 127.0.0.0/8",
        "2002:7f00:1::, 127.0.0.0/8",
        "2001:0:4136:e378:8000:63bf:80ff:fffe, 127.0.0.0/8",
    })
    void what_is_special_must_be_listed_itself(String host, String range) {
        for (String[] wide : List.of(new String[] {"*"}, new String[] {"0.0.0.0/0", "::/0"})) {
            String why = rules(wide).refusal(http(host), false).orElseThrow();
            assertTrue(why.contains("(" + range + ")"), why);
            assertTrue(why.endsWith(" in warmpath.addresses.allowed would allow it"), why);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                ".",
                "a..b",
                "-a",
                "a-.b",
                "127.1",
                "127.0.1",
                "2130706433",
                "0x7f000001",
                "0x7f.0.0.1",
                "0177.0.0.1",
                "127.0.0.01",
                "256.0.0.1",
                "127.0.0.1.",
                "1.2.3.4.5",
                "engine.0x1",
                "engine.1",
                "fe80::1%eth0",
                "[::1]",
                "::g",
                "user@10.0.0.1",
                "10.0.0.1:80",
                "a/b",
                "a b",
                "a\u0000b",
                "\uff11\uff12\uff17.0.0.1",
                "\u2488engine",
                "*"
            })
    void what_two_readers_could_read_differently_is_no_address(String host) {
        String why = usual(host).orElseThrow();
        assertTrue(why.contains("neither the name of a host nor an address"), why);
    }

    @Test
    void a_name_is_judged_by_what_it_leads_to() throws Exception {
        AddressRules any = rules("*");
        assertEquals(Optional.empty(), led(any, "engine", "10.0.0.1"));
        assertTrue(led(any, "engine", "127.0.0.1").isPresent());
        assertTrue(led(any, "engine", "169.254.169.254").orElseThrow().contains("of engine"));
        assertTrue(led(any, "engine", "::ffff:169.254.169.254").isPresent());
        AddressRules some = rules("10.0.0.0/8", "*.engines.example");
        assertEquals(Optional.empty(), some.refusal(http("engine"), false), "not known yet");
        assertEquals(Optional.empty(), led(some, "engine", "10.1.2.3"));
        assertTrue(led(some, "engine", "11.0.0.1").isPresent());
        assertEquals(Optional.empty(), led(some, "a.engines.example", "11.0.0.1"));
        assertTrue(led(some, "a.engines.example", "127.0.0.1").isPresent());
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, http://10.9.9.9:1, true",
        "10.0.0.0/8, http://192.168.0.1:1, false",
        "10.0.0.0/8:8000-8010, http://10.0.0.1:8010, true",
        "10.0.0.0/8:8000-8010, http://10.0.0.1:8011, false",
        "10.0.0.1, http://10.0.0.1:1, true",
        "10.0.0.1:8000, http://10.0.0.1:8001, false",
        "https://10.0.0.1, http://10.0.0.1, false",
        "https://10.0.0.1, https://10.0.0.1, true",
        "fd00::/8, http://[fd00::1]:80, true",
        "[fd00::/8]:80, http://[fd00::1]:80, true",
        "[fd00::/8]:80, http://[fd00::1]:81, false",
        "engine, http://ENGINE:1, true",
        "engine, http://engine2:1, false",
        "*.a.example, http://c.b.a.example, true",
        "*.a.example, http://a.example, false",
        "*.a.example, http://ba.example, false",
        "*:8000, http://anything:8000, true",
        "*:8000, http://anything:22, false",
        "127.0.0.1, http://127.0.0.1:1, true",
        "127.0.0.0/8, http://localhost:1, true",
        "localhost, http://localhost:1, false",
        "169.254.0.0/16, http://169.254.1.1, true",
        "169.254.0.0/16, http://169.254.169.254, false",
        "169.254.169.254, http://169.254.169.254, true",
        "10.0.0.1, unix:///run/e.sock, false",
        "*, unix:///var/run/docker.sock, false",
        "unix:/run/engines/, unix:///run/engines/a.sock, true",
        "unix:/run/engines/, unix:///run/engines.sock, false",
        "unix:/run/engines/, unix:///run/engines/../docker.sock, false",
        "unix:///run/a.sock, unix:///run/a.sock, true",
        "unix:/run/a.sock, unix:///run/a.sock.b, false",
    })
    void an_entry_opens_what_it_says_and_no_more(String entry, String url, boolean open) {
        Optional<String> why = rules(entry).refusal(Place.of(WorkerSpec.parse(url)), false);
        assertEquals(open, why.isEmpty(), why::toString);
    }

    @Test
    void what_a_refusal_says_would_allow_it_does() throws Exception {
        for (String host :
                List.of("127.0.0.1", "::1", "169.254.169.254", "224.1.1.1", "10.0.0.1", "::")) {
            String why = rules("unix:/x").refusal(http(host), false).orElseThrow();
            String entry =
                    Arrays.stream(why.split("; ", -1))
                            .skip(1)
                            .findFirst()
                            .orElseThrow()
                            .split(" ", -1)[0];
            assertEquals(Optional.empty(), rules(entry).refusal(http(host), false), entry);
        }
    }

    @Test
    void who_is_on_this_machine_may_name_its_loopback_and_its_socket_files() {
        AddressRules any = rules("*");
        for (String host : List.of("127.0.0.1", "localhost", "::1")) {
            assertEquals(Optional.empty(), any.refusal(http(host), true));
        }
        assertEquals(Optional.empty(), any.refusal(new Place("unix", "/run/e.sock", 0, 1), true));
        assertTrue(any.refusal(http("169.254.169.254"), true).isPresent());
        assertTrue(rules("10.0.0.0/8").refusal(http("127.0.0.1"), true).isPresent());
    }

    @Test
    void all_ports_of_a_row_must_be_open() {
        AddressRules ports = rules("10.0.0.1:5557-5558");
        assertEquals(Optional.empty(), ports.refusal(new Place("tcp", "10.0.0.1", 5557, 2), false));
        assertTrue(ports.refusal(new Place("tcp", "10.0.0.1", 5557, 3), false).isPresent());
    }

    @Test
    void an_empty_list_opens_nothing() {
        assertTrue(rules().refusal(http("10.0.0.1"), true).isPresent());
        assertTrue(rules().refusal(http("engine"), true).isPresent());
    }

    @Test
    void the_dot_of_the_root_makes_no_other_name() {
        AddressRules one = rules("engine.example");
        assertEquals(Optional.empty(), one.refusal(http("Engine.Example."), false));
        assertTrue(one.refusal(http("engine.example.."), false).isPresent());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "10.0.0.1/8",
                "10.0.0.0/33",
                "10.0.0.0/x",
                "fd00::/129",
                "ftp://a",
                "a:0",
                "a:2-1",
                "a:70000",
                "unix:relative",
                "unix:/a/../b",
                "127.1",
                "a b",
                "http://",
                "a:b"
            })
    void a_wrong_entry_is_named(String entry) {
        String why =
                assertThrows(IllegalArgumentException.class, () -> rules("*", entry)).getMessage();
        assertTrue(why.startsWith("warmpath.addresses.allowed: `" + entry + "`: "), why);
    }
}
