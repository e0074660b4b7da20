package io.warmpath.wiring;

import java.io.IOException;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Tells the service manager that started this process (systemd, a unit with {@code Type=notify})
 * that it serves. Java has no datagrams on sockets of the file system, so the manager's own program
 * sends it; its unit says {@code NotifyAccess=all}. Without {@code NOTIFY_SOCKET} nothing happens.
 */
final class ServiceManager {
    static final String SOCKET = "NOTIFY_SOCKET";

    private static final Logger LOG = Logger.getLogger(ServiceManager.class);
    private static final List<String> COMMAND = List.of("systemd-notify", "--ready");

    private ServiceManager() {}

    /** Returns at once; whether it worked is told in the log where it did not. */
    static void ready() {
        String socket = System.getenv(SOCKET);
        if (socket == null || socket.isBlank()) {
            return;
        }
        try {
            Process process =
                    new ProcessBuilder(COMMAND)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            process.getOutputStream().close();
            Thread.ofVirtual().name("service-manager").start(() -> await(process));
        } catch (IOException e) {
            untold(String.valueOf(e.getMessage()));
        }
    }

    private static void await(Process process) {
        try {
            int status = process.waitFor();
            if (status != 0) {
                untold("it ended with " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void untold(String why) {
        LOG.warnf(
                "The service manager at %s was not told that the gateway serves: %s: %s",
                System.getenv(SOCKET), String.join(" ", COMMAND), why);
    }
}
