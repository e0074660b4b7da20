package io.warmpath.fleet.probe;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Why a worker could not be asked who it is, and what to look at next. The texts name no address,
 * and are the same as long as the cause is. Stateless.
 */
final class ProbeAdvice {
    private static final String PORT = "is that the port of the engine's HTTP API?";

    private static final String CLOSED =
            "the connection was closed without an answer; is the engine still starting, and "
                    + PORT;

    private ProbeAdvice() {}

    static String of(Exception failure) {
        String said = String.valueOf(failure.getMessage());
        if (said.contains("invalid version format")) { // with the bytes that came
            said = "what answers there is no HTTP";
        } else if (said.startsWith("not an SSL/TLS record")) { // the same
            said = "what answers there is no TLS";
        } else if (said.contains("Connection was closed") || said.contains("reset by peer")) {
            return CLOSED; // an engine that starts does both, in turn
        }
        String next =
                switch (failure) {
                    case ConnectException refused -> "is the engine still starting, and " + PORT;
                    case EngineAnswerException answer -> next(answer.status());
                    default -> next(failure, said);
                };
        return next.isEmpty() ? said : said + "; " + next;
    }

    private static String next(int status) {
        return switch (status) {
            case 401, 403 -> "give the engine's API key (warmpath.auth.engine-key-file)";
            case 502, 503, 504 -> "is the engine still starting?";
            default -> PORT;
        };
    }

    private static String next(Exception failure, String said) {
        for (Throwable t = failure; t != null; t = cause(t)) {
            if (t instanceof UnknownHostException) {
                return "is it written as this machine knows it?";
            }
            if (t instanceof SocketTimeoutException) {
                return "is the host right, does a firewall lie between, or is the engine too busy"
                        + " (warmpath.fleet.health-timeout)?";
            }
            if (t instanceof SSLException) {
                return "does the engine speak TLS there (https:// or http://), and is its"
                        + " certificate trusted (warmpath.upstream.tls.ca-file)?";
            }
        }
        return said.endsWith("no HTTP") ? PORT : "";
    }

    private static @Nullable Throwable cause(Throwable t) {
        return t.getCause() == t ? null : t.getCause();
    }
}
