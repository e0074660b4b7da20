package io.warmpath.upstream;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Knows of one client connection whether all that its codec has read is answered. Between codec and
 * Vert.x; the connection's event loop only.
 */
final class CodecState extends ChannelDuplexHandler {
    private int unanswered;
    private boolean body;
    private boolean interim; // the answer that is being written is a 1xx
    private boolean spoiled; // there was something that is not HTTP: nothing after it is known

    /**
     * @param begun the head of a request has gone by, its body has not
     */
    CodecState(boolean begun) {
        if (begun) {
            unanswered = 1;
            body = true;
        }
    }

    /** Every request that has begun is over, and everything so far was HTTP. */
    boolean isQuiet() {
        return unanswered == 0 && !body && !spoiled;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpRequest) {
            unanswered++;
            body = true;
        }
        if (message instanceof LastHttpContent) {
            body = false;
        }
        if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
            spoiled = true;
        }
        ctx.fireChannelRead(message);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it is the promise
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpResponse answer) {
            interim = answer.status().code() < 200;
        }
        if (message instanceof LastHttpContent && !interim && unanswered > 0) {
            unanswered--;
        }
        ctx.write(message, promise);
    }
}
