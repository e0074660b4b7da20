package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Errors;
import io.warmpath.wiring.Logs;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

class FileShortageTest {
    static {
        Epoll.ensureAvailability(); // before anything else of Netty's native side is used
    }

    private final IOException none = new Errors.NativeIoException("socket", -24);
    private final IOException jdk = new IOException("Too many open files");

    private long now = Long.MAX_VALUE - 5; // a clock may go through its end
    private final FileShortage shortage = new FileShortage(() -> now);

    @Test
    void files_that_have_run_out_explain_a_failure_whoever_says_so() {
        assertTrue(shortage.explains(none));
        assertTrue(shortage.explains(new Errors.NativeIoException("accept", -23)));
        assertTrue(shortage.explains(jdk));
        assertTrue(
                shortage.explains(new ChannelException("no channel", new ChannelException(none))));
        assertTrue(shortage.explains(new FileSystemException("/a", null, "Too many open files")));
        assertEquals(5, shortage.count());
    }

    @Test
    void other_failures_have_other_causes() {
        assertFalse(shortage.explains(null));
        assertFalse(shortage.explains(new ConnectException("Connection refused")));
        assertFalse(shortage.explains(new Errors.NativeIoException("connect", -111)));
        IOException first = new IOException("a");
        first.initCause(new IOException("b", first)); // each the other's
        assertFalse(shortage.explains(first));
        assertEquals(0, shortage.count());
    }

    @Test
    void it_is_told_once_until_it_has_been_over_for_a_minute() {
        Logs logs = new Logs(FileShortage.class);
        try {
            for (int i = 0; i < 100; i++) {
                shortage.explains(jdk);
                now += Duration.ofSeconds(59).toNanos();
            }
            assertEquals(1, logs.at(Level.WARNING).size());
            now += Duration.ofSeconds(1).toNanos();
            shortage.explains(jdk);
            assertEquals(2, logs.at(Level.WARNING).size());
        } finally {
            logs.close();
        }
    }
}
