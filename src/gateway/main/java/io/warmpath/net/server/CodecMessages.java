package io.warmpath.net.server;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Tells of the requests and answers that go by between the server's codec and Vert.x. One per
 * client connection, its event loop only.
 */
abstract class CodecMessages extends ChannelDuplexHandler {
    private boolean interim; // the answer that is being written is a 1xx

    /** This one goes by. */
    void head(HttpRequest request) {}

    /** Its head has gone by. */
    abstract void requestBegan();

    /** So much more of its body has. */
    void received(int bytes) {}

    /** All of it has. */
    abstract void requestEnded();

    /** There was something that is not HTTP: nothing after it is known. */
    void spoiled() {}

    /** The head of an answer goes by, which is no 1xx. */
    void answerBegan() {}

    /** The end of an answer has gone by, which is no 1xx. */
    abstract void answered();

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpRequest request) {
            head(request);
            requestBegan();
        }
        if (message instanceof ByteBufHolder content) {
            received(content.content().readableBytes());
        }
        if (message instanceof LastHttpContent) {
            requestEnded();
        }
        if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
            spoiled();
        }
        ctx.fireChannelRead(message);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it is the promise
    public final void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpResponse answer) {
            interim = answer.status().code() < 200;
            if (!interim) {
                answerBegan();
            }
        }
        if (message instanceof LastHttpContent && !interim) {
            answered();
        }
        ctx.write(message, promise);
    }
}
