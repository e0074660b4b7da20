package io.warmpath.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.AsciiString;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.net.EndToEndHeaders;

/**
 * Writes the head of a request to an engine. Header values are characters below 256, one byte each,
 * as the server's decoder made them from bytes. A value with a line end cannot come from there; one
 * is refused all the same, because it would write headers of its own.
 */
final class RequestHead {
    /** Memory that most heads fit into. */
    static final int HEAD_BYTES = 1024;

    private static final AsciiString POST = AsciiString.cached("POST ");
    private static final AsciiString VERSION_AND_HOST = AsciiString.cached(" HTTP/1.1\r\nhost: ");
    private static final AsciiString LENGTH = AsciiString.cached("\r\ncontent-length: ");
    private static final int CRLF = '\r' << 8 | '\n';
    private static final int COLON = ':' << 8 | ' ';

    private RequestHead() {}

    static void write(ByteBuf to, EngineAddress address, UpstreamRequest request) {
        ByteBufUtil.writeAscii(to, POST);
        text(to, address.path());
        text(to, request.target());
        ByteBufUtil.writeAscii(to, VERSION_AND_HOST);
        text(to, address.authority());
        ByteBufUtil.writeAscii(to, LENGTH);
        ByteBufUtil.writeAscii(to, Integer.toString(request.body().length()));
        to.writeShort(CRLF);
        EndToEndHeaders.eachOfRequest(
                request.headers(),
                (name, value) -> {
                    if (!request.extra().contains(name)) {
                        header(to, name, value);
                    }
                });
        request.extra().forEach((name, value) -> header(to, name, value));
        to.writeShort(CRLF);
    }

    private static void header(ByteBuf to, String name, String value) {
        text(to, name);
        to.writeShort(COLON);
        text(to, value);
        to.writeShort(CRLF);
    }

    private static void text(ByteBuf to, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\r' || c == '\n' || c == 0 || c > 0xff) {
                throw new IllegalArgumentException(
                        "character " + (int) c + " at " + i + " of a request's head");
            }
        }
        ByteBufUtil.writeAscii(to, text);
    }
}
