package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Vert.x' decoder, held to what RFC 9112 lets nobody read in a second way: what the decoder takes
 * from its bytes and what {@link RequestGrammar} takes from them has to be the same request.
 * Otherwise the request is malformed, and nothing behind it is read. One per client connection, its
 * event loop only.
 */
final class StrictDecoder extends VertxHttpRequestDecoder {
    private final RequestGrammar grammar = new RequestGrammar();
    private boolean body; // the head has gone by
    private boolean malformed;

    StrictDecoder(HttpServerOptions options) {
        super(options);
    }

    /** Nothing of a next request has come, and nothing was malformed. */
    boolean isBetweenRequests() {
        return grammar.isStart() && !malformed;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
            throws Exception {
        if (malformed) {
            in.skipBytes(in.readableBytes());
            return;
        }
        int from = in.readerIndex();
        int before = out.size();
        super.decode(ctx, in, out);
        for (int i = before; i < out.size(); i++) {
            malformed |= ((HttpObject) out.get(i)).decoderResult().isFailure();
        }
        if (malformed) {
            return; // the decoder has said why
        }
        MalformedRequest wrong = grammar.read(in, from, in.readerIndex());
        for (int i = before; i < out.size() && wrong == null; i++) {
            wrong = check((HttpObject) out.get(i));
        }
        if (wrong != null) {
            refuse(wrong, out, before);
        }
    }

    private @Nullable MalformedRequest check(HttpObject part) {
        if (part instanceof HttpRequest request) {
            if (!grammar.isHeadEnd()) {
                return MalformedRequest.of("The request's head has no clear end.");
            }
            try {
                grammar.body(RequestFraming.bodyLength(request, grammar));
            } catch (MalformedRequest e) {
                return e;
            }
            body = true;
        }
        if (part instanceof LastHttpContent) {
            if (!grammar.isEnd()) {
                return MalformedRequest.of("The request has no clear end.");
            }
            grammar.next();
            body = false;
        }
        return null;
    }

    private void refuse(MalformedRequest why, List<Object> out, int from) {
        malformed = true;
        while (out.size() > from) {
            ReferenceCountUtil.release(out.removeLast());
        }
        HttpObject told = body ? new DefaultLastHttpContent() : createInvalidMessage();
        told.setDecoderResult(DecoderResult.failure(why));
        out.add(told);
    }
}
