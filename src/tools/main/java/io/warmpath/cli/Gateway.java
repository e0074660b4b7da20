package io.warmpath.cli;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The operators' endpoints of one gateway. Blocks; one thread. */
final class Gateway {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONNECT_MILLIS = 5_000;
    private static final int READ_MILLIS = 15_000;
    private static final int MOST_BYTES = 64 << 20;
    private static final int OK = 200;
    private static final int REDIRECTIONS = 300;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    private final String base;
    private final Optional<AdminToken> token;

    /** {@code base}: {@code http} or {@code https}, without a slash at its end. */
    Gateway(String base, Optional<AdminToken> token) {
        this.base = base;
        this.token = token;
    }

    String base() {
        return base;
    }

    /** One segment of a path, or a value of a query. */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /**
     * @param path with its query
     * @throws Trouble when there is no answer, or one that says no
     */
    JsonNode get(String path) throws Trouble {
        return ask("GET", path, null);
    }

    /** As {@link #get}, with a body; an empty answer is a missing node. */
    JsonNode post(String path, JsonNode body) throws Trouble {
        return ask("POST", path, body.toString().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The answer of {@code /ready}, which needs no token: {@code status} is {@code ready}, or what
     * the gateway waits for.
     */
    JsonNode readiness() throws Trouble {
        Answer answer = exchange("GET", "/ready", null);
        boolean said = answer.status == OK || answer.status == UNAVAILABLE;
        if (said && answer.json != null && answer.json.hasNonNull("status")) {
            return answer.json;
        }
        throw refused("GET /ready", answer);
    }

    private JsonNode ask(String method, String path, byte @Nullable [] body) throws Trouble {
        Answer answer = exchange(method, path, body);
        if (answer.status >= OK
                && answer.status < REDIRECTIONS
                && (answer.json != null || answer.empty)) {
            return answer.tree();
        }
        throw refused(method + " " + path.replaceFirst("\\?.*", ""), answer);
    }

    /** {@code json}: null for what is no JSON. */
    private record Answer(int status, @Nullable JsonNode json, boolean empty) {
        JsonNode tree() {
            return json == null ? MissingNode.getInstance() : json;
        }
    }

    private Answer exchange(String method, String path, byte @Nullable [] body) throws Trouble {
        try {
            HttpURLConnection call =
                    (HttpURLConnection) URI.create(base + path).toURL().openConnection();
            call.setConnectTimeout(CONNECT_MILLIS);
            call.setReadTimeout(READ_MILLIS);
            call.setInstanceFollowRedirects(false);
            call.setRequestMethod(method);
            call.setRequestProperty("accept", "application/json");
            call.setRequestProperty("user-agent", "warmpath-terminal");
            token.ifPresent(t -> call.setRequestProperty("authorization", "Bearer " + t.secret()));
            if (body != null) {
                call.setDoOutput(true);
                call.setRequestProperty("content-type", "application/json");
                call.getOutputStream().write(body);
            }
            int status = call.getResponseCode();
            byte[] answer = bytes(status < 400 ? call.getInputStream() : call.getErrorStream());
            return new Answer(status, tree(answer), answer.length == 0);
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private static byte[] bytes(@Nullable InputStream stream) throws IOException {
        if (stream == null) {
            return new byte[0];
        }
        try (InputStream in = stream) {
            byte[] all = in.readNBytes(MOST_BYTES);
            if (all.length == MOST_BYTES) {
                throw new IOException("an answer of more than 64 MiB");
            }
            return all;
        }
    }

    /** Null for what is no JSON. */
    private static @Nullable JsonNode tree(byte[] bytes) {
        try {
            JsonNode tree = JSON.readTree(bytes);
            return tree.isMissingNode() ? null : tree;
        } catch (JacksonException e) {
            return null;
        } catch (IOException e) {
            throw new IllegalStateException("reading from memory", e);
        }
    }

    private Trouble unreachable(IOException e) {
        String why =
                switch (e) {
                    case UnknownHostException u -> "there is no host of that name";
                    case ConnectException c ->
                            "nothing listens there; start one with ./warmpath serve, or say where"
                                    + " it is with --url URL or WARMPATH_URL";
                    case SocketTimeoutException t ->
                            "no answer within "
                                    + READ_MILLIS / 1000
                                    + " s; is it overloaded, or a"
                                    + " firewall between?";
                    case SSLException s ->
                            s.getMessage()
                                    + "; an authority of your own is named by WARMPATH_JAVA_OPTS="
                                    + "-Djavax.net.ssl.trustStore=FILE";
                    default ->
                            e.getMessage()
                                    + (base.startsWith("http:")
                                            ? "; where it serves TLS, the URL begins with https://"
                                            : "");
                };
        return new Trouble(Trouble.FAILED, "no gateway answers at " + base + ": " + why + ".");
    }

    private Trouble refused(String question, Answer answer) {
        int status = answer.status;
        JsonNode error = answer.tree().path("error");
        String said = Words.clean(error.path("message").asText());
        if (!error.isObject()) {
            return new Trouble(
                    Trouble.FAILED,
                    ("what answers at %s is no Warmpath gateway: %s got status %s in another"
                                    + " form.")
                            .formatted(base, question, status));
        }
        if (status == FORBIDDEN) {
            return new Trouble(
                    Trouble.FAILED,
                    "the gateway refuses: "
                            + said
                            + " "
                            + token.map(t -> "The token of " + t.from() + " is not the gateway's.")
                                    .orElse(
                                            "Give its token with --token-file FILE,"
                                                    + " WARMPATH_ADMIN_TOKEN_FILE or"
                                                    + " WARMPATH_ADMIN_TOKEN."));
        }
        boolean unknown =
                status == NOT_ALLOWED
                        || (status == NOT_FOUND
                                && error.path("code").asText().equals("unknown_url"));
        return unknown
                ? new Trouble(
                        Trouble.FAILED,
                        ("the gateway at %s does not know %s: it is older than this"
                                        + " terminal; update it.")
                                .formatted(base, question))
                : new Trouble(
                        Trouble.REFUSED, "the gateway answers with status " + status + ": " + said);
    }
}
