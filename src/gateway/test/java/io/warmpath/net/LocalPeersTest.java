package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose the other end of a connection is. */
class LocalPeersTest {
    private static final String HEAD =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";
    private static final SocketAddress PEER = SocketAddress.inetSocketAddress(5000, "127.0.0.1");
    private static final SocketAddress OWN = SocketAddress.inetSocketAddress(8000, "127.0.0.1");

    @TempDir Path proc;

    private static String line(String local, String remote, String state, int user) {
        return "   7: %s %s %s 00000000:00000000 00:00000000 00000000 %5d        0 99 1 0 20\n"
                .formatted(local, remote, state, user);
    }

    private LocalPeers peers(String tcp, String tcp6) throws Exception {
        Files.writeString(proc.resolve("tcp"), HEAD + tcp);
        Files.writeString(proc.resolve("tcp6"), HEAD + tcp6);
        return new LocalPeers(proc);
    }

    @ParameterizedTest
    @CsvSource({
        "1000, 1000, 01, true",
        "0,    1000, 01, true",
        "33,   1000, 01, false",
        "1000, 0,    01, false",
        // A process that has left its socket: the kernel says root.
        "0,    1000, 05, false",
        "1000, 1000, 08, false",
    })
    void the_same_user_and_root_are_let_in(int theirs, int ours, String state, boolean in)
            throws Exception {
        String there = line("0100007F:1388", "0100007F:1F40", state, theirs);
        String here = line("0100007F:1F40", "0100007F:1388", "01", ours);
        assertEquals(in, peers(here + there, "").isOfThisUser(PEER, OWN));
        // A server for both versions of IP has its end in the other list.
        String mapped = "0000000000000000FFFF00000100007F";
        String six = line(mapped + ":1F40", mapped + ":1388", "01", ours);
        assertEquals(in, peers(there, six).isOfThisUser(PEER, OWN));
    }

    @Test
    void another_connection_with_the_same_ports_is_not_it() throws Exception {
        String here = line("0100007F:1F40", "0100007F:1388", "01", 1000);
        String root = line("0200007F:1388", "0100007F:1F40", "01", 0);
        assertFalse(peers(here + root, "").isOfThisUser(PEER, OWN));
        assertFalse(peers(here, "").isOfThisUser(PEER, OWN), "nobody found");
        assertFalse(
                peers("garbage 1388\n:1388 \n" + line("01:1388", "x", "01", 0), "")
                        .isOfThisUser(PEER, OWN));
        String one = "00000000000000000000000001000000";
        String there = line(one + ":1388", one + ":1F40", "01", 7);
        String own = line(one + ":1F40", one + ":1388", "01", 7);
        assertTrue(
                peers("", there + own)
                        .isOfThisUser(
                                SocketAddress.inetSocketAddress(5000, "::1"),
                                SocketAddress.inetSocketAddress(8000, "0:0:0:0:0:0:0:1")));
    }

    @Test
    void this_process_is_found_on_this_machine() throws Exception {
        LocalPeers here = new LocalPeers();
        assumeTrue(here.areKnown(), "Linux");
        for (String address : new String[] {"127.0.0.1", "127.0.0.2"}) {
            InetAddress to = InetAddress.ofLiteral(address);
            try (ServerSocket server = new ServerSocket(0, 1, to);
                    Socket client = new Socket(to, server.getLocalPort());
                    Socket accepted = server.accept()) {
                SocketAddress peer =
                        SocketAddress.inetSocketAddress(
                                client.getLocalPort(), client.getLocalAddress().getHostAddress());
                SocketAddress own =
                        SocketAddress.inetSocketAddress(accepted.getLocalPort(), address);
                assertTrue(here.isOfThisUser(peer, own), address);
                SocketAddress nobody = SocketAddress.inetSocketAddress(1, "127.0.0.1");
                assertFalse(here.isOfThisUser(nobody, own));
            }
        }
    }
}
