package io.warmpath.api.connection;

import io.warmpath.api.request.InferencePath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;

/** What requests are made of: sound parts, and those that readers have read in different ways. */
final class RequestParts {
    static final byte[] LAST = ascii("GET /end HTTP/1.1\r\nHost: g\r\n\r\n");
    static final byte[] SPICE = ascii("\r\n\r\n \t\0:;,=/?#%\"\\0159afAF+-xHPTG\u007f\u0080\u00ff");

    static final byte[][] METHODS = all("GET", "POST", "POST", "POST", "PUT", "HEAD");
    static final byte[][] ODD_METHODS =
            all(
                    "DELETE",
                    "OPTIONS",
                    "PATCH",
                    "CONNECT",
                    "post",
                    "P0ST",
                    "",
                    "PO ST",
                    "\r\nPOST",
                    "POST\t");
    static final byte[][] TARGETS =
            all(
                    Stream.concat(
                                    InferencePath.ALL.stream().map(InferencePath::path),
                                    Stream.of(
                                            "/",
                                            "/live",
                                            "/v1/chat/completions",
                                            "/v1/chat/completions"))
                            .toArray(String[]::new));
    static final byte[][] ODD_TARGETS =
            all(
                    "*",
                    "",
                    "http://g/v1/completions",
                    "https://g:1/x?y",
                    "HTTP://g/",
                    "http:///x",
                    "http://u@g/x",
                    "ftp://g/x",
                    "g:80",
                    "/a?b=c&d",
                    "//a//b",
                    "/../a",
                    "/%63hat",
                    "/a b",
                    "/a#b",
                    "/a\\b",
                    "/\u00e9",
                    "/a\tb",
                    "/<",
                    "/" + "x".repeat(300),
                    " /x");
    static final byte[][] VERSIONS = all("HTTP/1.1");
    static final byte[][] ODD_VERSIONS =
            all(
                    "HTTP/1.0",
                    "HTTP/1.0",
                    "HTTP/1.2",
                    "HTTP/2.0",
                    "HTTP/0.9",
                    "HTTP/1.10",
                    "http/1.1",
                    "HTTP/1.1 ",
                    "HTTP/11",
                    "HTTP/1,1",
                    "",
                    "HTTPS/1.1",
                    "HTTP/ 1.1");
    static final byte[][] ENDS = all("\r\n");
    static final byte[][] ODD_ENDS =
            all("\n", "\r", "\r\r\n", "\n\r", " \r\n", "\r\n ", "\r\n\t", "");
    static final byte[][] HOSTS =
            all("Host: g", "host:g:80", "HOST: \t[::1]:8000 ", "Host: 10.0.0.1");
    static final byte[][] ODD_HOSTS =
            all(
                    "",
                    "Host:",
                    "Host: a\r\nHost: a",
                    "Host : a",
                    "Host: a b",
                    "Host: a/b",
                    "Host: u@a",
                    " Host: a",
                    "Host: a,b",
                    "Xost: a",
                    "Host\r\n : a",
                    "Host: a\r\nX: b\r\nhost: c");
    static final byte[][] HEADERS =
            all(
                    "Accept: */*",
                    "Content-Type: application/json",
                    "X-A:b",
                    "x-empty: ",
                    "x-empty:",
                    "User-Agent: curl/8 (x; y) \"z\"",
                    "Authorization: Bearer a=b",
                    "Connection: keep-alive",
                    "Keep-Alive: timeout=5",
                    "Accept-Encoding: gzip, br",
                    "X-Pad: \t a \t b \t ");
    static final byte[][] ODD_HEADERS =
            all(
                    ": a",
                    ":",
                    "a",
                    "x y: a",
                    "x: a\r\n b",
                    "x: a\r\n\tb: c",
                    "x:\r\n a",
                    "x: a\0b",
                    "x: a\rb",
                    "x: a\nb",
                    "x: \u00e9\u00ff",
                    "x\u00e9: a",
                    "x\t: a",
                    "(x): a",
                    "x: a\u007f",
                    "x: a\u0001",
                    "Connection: close",
                    "Connection: CLOSE",
                    "Expect: 100-continue",
                    "Upgrade: h2c",
                    "Trailer: x",
                    "TE: trailers",
                    "Proxy-Connection: close",
                    "Connection: content-length",
                    "x: " + "y".repeat(700),
                    "Connection: Upgrade\r\nUpgrade: websocket",
                    "\"x\": a",
                    "x;y: a",
                    "x,y: a",
                    "x=: a");
    static final byte[][] CODINGS = all("Transfer-Encoding: chunked", "transfer-encoding:Chunked ");
    static final byte[][] ODD_CODINGS =
            all(
                    "Transfer-Encoding: xchunked",
                    "Transfer-Encoding: identity",
                    "Transfer-Encoding: gzip",
                    "Transfer-Encoding: gzip, chunked",
                    "Transfer-Encoding: chunked, gzip",
                    "Transfer-Encoding: \"chunked\"",
                    "Transfer-Encoding: chunked;q=1",
                    "Transfer-Encoding:",
                    "Transfer-Encoding: ,chunked",
                    "Transfer-Encoding: chunked,",
                    "Transfer-Encoding: chunked, chunked",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                    "Transfer-Encoding : chunked",
                    "Transfer-Encoding:\r\n chunked",
                    "Transfer-Encoding: chunked\u000b",
                    "Transfer_Encoding: chunked",
                    "Transfer-Encoding: chun ked",
                    "Xransfer-Encoding: chunked",
                    "TE: chunked");
    static final byte[][] EXTENSIONS = all("", "", "", ";a", ";a=b", ";a=\"b c\"", ";a=b;c=d");
    static final byte[][] ODD_EXTENSIONS =
            all(
                    " ",
                    "\t",
                    ";",
                    ";=",
                    ";a=",
                    ";a=\"",
                    ";a=\"b\\\"c\"",
                    ";a b",
                    ";a\n",
                    "\n",
                    ";a=\"\n\"",
                    " ;a",
                    "; a",
                    "x",
                    ";a=\"b\"c",
                    ";\u00e9",
                    ";a=b=c",
                    ";a;",
                    ";a=\"b\";c");
    static final byte[][] TRAILERS = all("", "", "", "X-T: a\r\n");
    static final byte[][] ODD_TRAILERS =
            all(
                    "Content-Length: 5\r\n",
                    "Transfer-Encoding: chunked\r\n",
                    "X: a\r\n b\r\n",
                    "X\r\n",
                    " X: a\r\n",
                    ": a\r\n",
                    "X: a\n",
                    "X: a\0\r\n",
                    "Host: g\r\nHost: g\r\n");
    static final byte[][] BODIES =
            all(
                    "{\"model\":\"m\"}",
                    "a",
                    "",
                    "GET /in HTTP/1.1\r\nHost: g\r\n\r\n",
                    "0\r\n\r\n",
                    "5\r\nabcde\r\n0\r\n\r\n",
                    "\r\n",
                    "x".repeat(100),
                    "POST /v1/completions HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\na");

    private RequestParts() {}

    private static byte[][] all(String... texts) {
        return Arrays.stream(texts).map(RequestParts::ascii).toArray(byte[][]::new);
    }

    /** Bytes above ASCII as they are. */
    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
