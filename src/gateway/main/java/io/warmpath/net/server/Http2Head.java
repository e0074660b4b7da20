package io.warmpath.net.server;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.warmpath.net.HttpBytes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the codec takes in heads of HTTP/2 and nobody may send (RFC 9113 section 8.2.1 and 8.3.1):
 * those of HTTP/1 are read byte by byte, these are not. Stateless.
 */
public final class Http2Head {
    private Http2Head() {}

    /** Engines can be told of it in HTTP/1.1. Other versions are. */
    public static boolean isSound(HttpServerRequest request) {
        return request.version() != HttpVersion.HTTP_2
                || isSound(request.uri(), request.scheme(), request.headers());
    }

    static boolean isSound(
            String target, @Nullable String scheme, Iterable<Map.Entry<String, String>> headers) {
        if (!target.startsWith("/") && !target.equals("*")) {
            return false;
        }
        if (scheme != null && !scheme.equals("https") && !scheme.equals("http")) {
            return false;
        }
        boolean host = false;
        for (Map.Entry<String, String> header : headers) {
            if (header.getKey().equalsIgnoreCase("host")) {
                if (host) {
                    return false;
                }
                host = true;
            }
            if (!isValue(header.getValue())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isValue(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0xff || !HttpBytes.isValue(c)) {
                return false;
            }
        }
        return true;
    }
}
