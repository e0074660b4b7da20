package io.warmpath.adapter.mooncake;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The double is gone when it is closed. */
class MasterDoubleTest {
    /** A connection that was taken, and not yet noted, when the double closed, used to live on. */
    @Test
    void no_connection_outlives_it() throws IOException {
        int answers = 0;
        for (int round = 0; round < 2000; round++) {
            MasterDouble master = new MasterDouble();
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), master.port())) {
                client.setSoTimeout(10_000);
                master.close();
                answers += answered(client) ? 1 : 0;
            }
        }
        assertEquals(0, answers, "of 2000");
    }

    private static boolean answered(Socket client) {
        try {
            client.getOutputStream()
                    .write("GET /role HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return client.getInputStream().read() >= 0;
        } catch (IOException e) {
            return false; // reset, as it should be
        }
    }
}
