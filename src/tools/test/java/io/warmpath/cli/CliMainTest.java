package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What all commands have in common: where the gateway is, its token, what goes wrong. */
class CliMainTest {
    @TempDir Path folder;
    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway().on("POST /workers/w/resume", 202, "{\"name\":\"w\"}");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private String resumeFails(int exit, String... more) {
        List<String> args = new ArrayList<>(List.of("w"));
        args.addAll(List.of(more));
        assertEquals(exit, gateway.run("resume", args.toArray(String[]::new)), gateway.err());
        assertEquals("", gateway.out());
        return gateway.err();
    }

    @Test
    void the_address_is_the_flags_else_the_environments() {
        assertEquals(0, gateway.run("resume", "w"), gateway.err());
        gateway.environment.put("WARMPATH_URL", "http://127.0.0.1:1");
        assertEquals(0, gateway.run("resume", "w", "--url", gateway.url() + "/"), gateway.err());
        assertEquals(0, gateway.run("resume", "w", "--url=" + gateway.url()), gateway.err());
        assertEquals(3, gateway.asked().size());
    }

    @Test
    void the_token_is_the_flags_file_else_the_environments_file_else_its_value()
            throws IOException {
        Path one = Files.writeString(folder.resolve("one"), "first\n");
        Path two = Files.writeString(folder.resolve("two"), "second");
        gateway.environment.put("WARMPATH_ADMIN_TOKEN", "third");
        gateway.run("resume", "w");
        gateway.environment.put("WARMPATH_ADMIN_TOKEN_FILE", two.toString());
        gateway.run("resume", "w");
        gateway.run("resume", "w", "--token-file", one.toString());
        String asked = "POST /workers/w/resume {} with Bearer ";
        assertEquals(List.of(asked + "third", asked + "second", asked + "first"), gateway.asked());
    }

    @Test
    void a_token_file_that_is_none_is_refused() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty"), "\n");
        assertEquals(
                "warmpath resume: the file " + empty + " holds no token: one line of text\n",
                resumeFails(2, "--token-file", empty.toString()));
        assertTrue(
                resumeFails(2, "--token-file", folder.resolve("none").toString())
                        .contains("cannot be read"));
    }

    @Test
    void a_refusal_says_how_to_give_the_token_and_which_one_was_wrong() throws IOException {
        gateway.close();
        gateway = new StubGateway();
        gateway.on(
                "POST /workers/w/resume",
                403,
                StubGateway.error("This needs the token.", "forbidden"));
        assertEquals(
                "warmpath resume: the gateway refuses: This needs the token. Give its token with"
                        + " --token-file FILE, WARMPATH_ADMIN_TOKEN_FILE or WARMPATH_ADMIN_TOKEN.\n",
                resumeFails(2));
        gateway.environment.put("WARMPATH_ADMIN_TOKEN", "secret");
        assertEquals(
                "warmpath resume: the gateway refuses: This needs the token. The token of"
                        + " WARMPATH_ADMIN_TOKEN is not the gateway's.\n",
                resumeFails(2));
    }

    @Test
    void an_older_gateway_is_named_as_such() {
        assertEquals(2, gateway.run("top", "--once"));
        assertEquals(
                "warmpath top: the gateway at http://gateway does not know GET /fleet: it is older"
                        + " than this terminal; update it.\n",
                gateway.err());
    }

    @Test
    void another_server_is_named_as_such() {
        gateway.on("GET /fleet", 200, "<html>");
        assertEquals(2, gateway.run("top", "--once"));
        assertEquals(
                "warmpath top: what answers at http://gateway is no Warmpath gateway: GET /fleet got"
                        + " status 200 in another form.\n",
                gateway.err());
    }

    @Test
    void nobody_there_says_how_to_start_one_or_where_to_say_it() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        assertEquals(
                "warmpath resume: no gateway answers at http://127.0.0.1:"
                        + free
                        + ": nothing listens there; start one with ./warmpath serve, or say where it"
                        + " is with --url URL or WARMPATH_URL.\n",
                resumeFails(2, "--url", "http://127.0.0.1:" + free));
    }

    @Test
    void a_host_that_is_none_is_said() {
        assertEquals(
                "warmpath resume: no gateway answers at http://nowhere.invalid: there is no host of"
                        + " that name.\n",
                resumeFails(2, "--url", "http://nowhere.invalid"));
    }

    @Test
    void wrong_use_is_refused_before_anybody_is_asked() {
        assertEquals("warmpath resume: unknown flag --frob\n", resumeFails(2, "--frob"));
        assertEquals("warmpath resume: --url needs a value\n", resumeFails(2, "--url"));
        assertEquals("warmpath resume: --json takes no value\n", resumeFails(2, "--json=1"));
        assertEquals(
                "warmpath resume: too many words; see ./warmpath resume --help\n",
                resumeFails(2, "w2"));
        assertEquals(
                "warmpath resume: `localhost:8000` is no URL of a gateway, such as"
                        + " http://10.0.0.1:8000\n",
                resumeFails(2, "--url", "localhost:8000"));
        assertEquals(2, gateway.run("resume"));
        assertEquals(
                "warmpath resume: something is missing; see ./warmpath resume --help\n",
                gateway.err());
        assertEquals(List.of(), gateway.asked());
    }

    @Test
    void help_of_each_command_names_its_flags_and_those_of_all() {
        for (String command : CliMain.COMMANDS) {
            assertEquals(0, gateway.run(command, "--help"));
            assertTrue(gateway.out().startsWith("Usage: ./warmpath " + command), gateway.out());
            for (String flag : List.of("--url", "--token-file", "--json", "--help")) {
                assertTrue(gateway.out().contains("\n  " + flag), command + flag);
            }
            assertTrue(gateway.out().lines().allMatch(l -> l.length() <= 100), command);
        }
        assertEquals(List.of(), gateway.asked());
    }
}
