package io.warmpath.net.server;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.warmpath.net.HttpBytes;
import java.util.List;

/**
 * What a request's head says of its host, its target and the length of its body, where it says so
 * in one way only (RFC 9112 sections 3.2, 6.1 to 6.3). Any thread.
 */
final class RequestFraming {
    private static final int MAX_LENGTH_DIGITS = 18;
    private static final String[] SCHEMES = {"http://", "https://"};

    private RequestFraming() {}

    /**
     * @param both the decoder has seen a length and chunks, and has left one of them out
     * @return length of the body in bytes; negative: in chunks
     * @throws MalformedRequest two readers could see two requests
     */
    static long bodyLength(HttpRequest request, boolean both) throws MalformedRequest {
        checkTarget(request.method(), request.uri());
        HttpHeaders headers = request.headers();
        checkHost(request.protocolVersion(), headers.getAll("host"));
        List<String> codings = headers.getAll("transfer-encoding");
        List<String> lengths = headers.getAll("content-length");
        if (codings.isEmpty()) {
            return lengths.isEmpty() ? 0 : length(lengths);
        }
        if (codings.size() > 1 || !codings.getFirst().equalsIgnoreCase("chunked")) {
            throw MalformedRequest.of(
                    "The header `Transfer-Encoding` may stand once and be `chunked`, nothing"
                            + " else.");
        }
        if (both || !lengths.isEmpty()) {
            throw MalformedRequest.of(
                    "A request has `Content-Length` or `Transfer-Encoding`, not both.");
        }
        if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
            throw MalformedRequest.of("HTTP/1.0 has no `Transfer-Encoding`.");
        }
        return -1;
    }

    private static long length(List<String> lengths) throws MalformedRequest {
        String value = lengths.getFirst();
        boolean valid =
                lengths.size() == 1
                        && !value.isEmpty()
                        && value.length() <= MAX_LENGTH_DIGITS
                        && value.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!valid) {
            throw MalformedRequest.of(
                    "The header `Content-Length` may stand once and has 1 to "
                            + MAX_LENGTH_DIGITS
                            + " digits.");
        }
        return Long.parseLong(value);
    }

    private static void checkHost(HttpVersion version, List<String> hosts) throws MalformedRequest {
        if (hosts.size() > 1 || hosts.isEmpty() && version.equals(HttpVersion.HTTP_1_1)) {
            throw MalformedRequest.of("A request has one `Host` header.");
        }
        if (!hosts.isEmpty() && !isHost(hosts.getFirst())) {
            throw MalformedRequest.of("The header `Host` is no host with an optional port.");
        }
    }

    private static boolean isHost(String text) {
        return text.chars().allMatch(c -> c < 128 && HttpBytes.isHost(c));
    }

    /** From its root, with {@code http://host} before that, or {@code *} for OPTIONS. */
    private static void checkTarget(HttpMethod method, String target) throws MalformedRequest {
        if (method.equals(HttpMethod.CONNECT)) { // what followed would be no HTTP
            throw MalformedRequest.of("There is no tunnel here.");
        }
        if (target.startsWith("/") || target.equals("*") && method.equals(HttpMethod.OPTIONS)) {
            return;
        }
        for (String scheme : SCHEMES) {
            if (target.regionMatches(true, 0, scheme, 0, scheme.length())) {
                int path = target.indexOf('/', scheme.length());
                if (path > scheme.length() && isHost(target.substring(scheme.length(), path))) {
                    return;
                }
            }
        }
        throw MalformedRequest.of("The request's target is neither a path nor a URL of one.");
    }
}
