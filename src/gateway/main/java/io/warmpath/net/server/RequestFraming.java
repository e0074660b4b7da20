package io.warmpath.net.server;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.warmpath.net.HttpBytes;

/**
 * What a request's head says of its host, its target and the length of its body, where it says so
 * in one way only (RFC 9112 sections 3.2, 6.1 to 6.3). Any thread.
 */
final class RequestFraming {
    private static final int MAX_LENGTH_DIGITS = 18;
    private static final String[] SCHEMES = {"http://", "https://"};

    private RequestFraming() {}

    /**
     * @param grammar has read the head
     * @return length of the body in bytes; negative: in chunks
     * @throws MalformedRequest two readers could see two requests
     */
    static long bodyLength(HttpRequest request, RequestGrammar grammar) throws MalformedRequest {
        checkTarget(request.method(), request.uri());
        boolean current = request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        HttpHeaders headers = request.headers();
        if (grammar.hosts() > 1 || (grammar.hosts() == 0 && current)) {
            throw MalformedRequest.of("A request has one `Host` header.");
        }
        if (grammar.hosts() == 1 && !HttpBytes.isHost(String.valueOf(headers.get("host")))) {
            throw MalformedRequest.of("The header `Host` is no host with an optional port.");
        }
        if (grammar.codings() == 0) {
            return grammar.hasLength() ? length(String.valueOf(headers.get("content-length"))) : 0;
        }
        if (grammar.codings() > 1
                || !"chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
            throw MalformedRequest.of(
                    "The header `Transfer-Encoding` may stand once and be `chunked`, nothing"
                            + " else.");
        }
        if (grammar.hasLength()) {
            throw MalformedRequest.of(
                    "A request has `Content-Length` or `Transfer-Encoding`, not both.");
        }
        if (!current) {
            throw MalformedRequest.of("HTTP/1.0 has no `Transfer-Encoding`.");
        }
        return -1;
    }

    /** {@code value}: the decoder has taken it. */
    private static long length(String value) throws MalformedRequest {
        if (value.length() > MAX_LENGTH_DIGITS) {
            throw MalformedRequest.of(
                    "The header `Content-Length` has at most " + MAX_LENGTH_DIGITS + " digits.");
        }
        return Long.parseLong(value);
    }

    /** From its root, with {@code http://host} before that, or {@code *} for OPTIONS. */
    private static void checkTarget(HttpMethod method, String target) throws MalformedRequest {
        if (method.equals(HttpMethod.CONNECT)) { // what followed would be no HTTP
            throw MalformedRequest.of("There is no tunnel here.");
        }
        if (target.startsWith("/") || (target.equals("*") && method.equals(HttpMethod.OPTIONS))) {
            return;
        }
        for (String scheme : SCHEMES) {
            if (target.regionMatches(true, 0, scheme, 0, scheme.length())) {
                int path = target.indexOf('/', scheme.length());
                if (path > scheme.length()
                        && HttpBytes.isHost(target.substring(scheme.length(), path))) {
                    return;
                }
            }
        }
        throw MalformedRequest.of("The request's target is neither a path nor a URL of one.");
    }
}
