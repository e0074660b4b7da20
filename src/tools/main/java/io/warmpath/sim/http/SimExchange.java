package io.warmpath.sim.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One request and its answer. Event loop only. */
public final class SimExchange {
    private final ChannelHandlerContext ctx;
    private final String method;
    private final QueryStringDecoder target;
    private final HttpHeaders headers;
    private final byte[] body;
    private final boolean keepAlive;
    private final Runnable whenDone;
    private @Nullable Runnable whenGone;
    private BooleanSupplier mute = () -> false;
    private boolean done;

    SimExchange(ChannelHandlerContext ctx, FullHttpRequest request, Runnable whenDone) {
        this.ctx = ctx;
        this.method = request.method().name();
        this.target = new QueryStringDecoder(request.uri());
        this.headers = request.headers();
        this.body = ByteBufUtil.getBytes(request.content());
        this.keepAlive = HttpUtil.isKeepAlive(request);
        this.whenDone = whenDone;
    }

    public String method() {
        return method;
    }

    public String path() {
        return target.path();
    }

    /** First query parameter of this name, null when absent. */
    public @Nullable String param(String name) {
        List<String> values = target.parameters().get(name);
        return values == null ? null : values.getFirst();
    }

    public @Nullable String header(String name) {
        return headers.get(name);
    }

    public byte[] body() {
        return body;
    }

    public Channel channel() {
        return ctx.channel();
    }

    /** What would be sent meanwhile is not, as by a process that has stopped. */
    public void muteWhile(BooleanSupplier stopped) {
        mute = stopped;
    }

    /** Runs on this exchange's thread, later. */
    public void after(Duration pause, Runnable action) {
        Future<?> unused = ctx.executor().schedule(action, pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Brings a result of another thread back to this exchange's thread. */
    public Executor loop() {
        return ctx.executor();
    }

    /** False once the answer is complete or the client has left. */
    public boolean open() {
        return !done;
    }

    /** Runs when the client leaves before the answer is complete; at once if it has left. */
    public void onGone(Runnable action) {
        if (done) {
            action.run();
        } else {
            whenGone = action;
        }
    }

    public void json(int status, String json) {
        respond(status, "application/json", json, Map.of());
    }

    /** A whole answer; no effect when the client has left. */
    public void respond(int status, String type, String text, Map<String, String> more) {
        if (done || mute.getAsBoolean()) {
            return;
        }
        ByteBuf content = Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8));
        DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), content);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
        if (!text.isEmpty()) {
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
        }
        more.forEach((name, value) -> response.headers().set(name, value));
        setCommon(response);
        end(ctx.writeAndFlush(response));
    }

    /** Head of an event stream. */
    public void beginStream() {
        if (done || mute.getAsBoolean()) {
            return;
        }
        DefaultHttpResponse head =
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
        head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        setCommon(head);
        ChannelFuture unused = ctx.write(head, ctx.voidPromise());
    }

    /** One server-sent event, written at once and alone, as engines do. */
    public void event(String data) {
        if (done || mute.getAsBoolean()) {
            return;
        }
        ByteBuf frame = ctx.alloc().buffer(data.length() + 16);
        frame.writeCharSequence("data: ", StandardCharsets.US_ASCII);
        ByteBufUtil.writeUtf8(frame, data);
        frame.writeShort('\n' << 8 | '\n');
        ChannelFuture unused = ctx.writeAndFlush(new DefaultHttpContent(frame), ctx.voidPromise());
    }

    public void endStream() {
        if (!done && !mute.getAsBoolean()) {
            end(ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT));
        }
    }

    /** Closes the connection, whatever the answer lacks; what was sent still arrives. */
    public void cut() {
        ChannelFuture unused = ctx.channel().close();
    }

    /** Sends bytes that are no HTTP, and closes the connection. */
    public void babble() {
        ByteBuf junk = ctx.alloc().buffer(64);
        junk.writeCharSequence(
                "\u0000\u0007zz\r\n{]:\r\n\r\nHTTP/9 0\r\n", StandardCharsets.ISO_8859_1);
        ChannelFuture unused =
                ctx.pipeline()
                        .firstContext()
                        .writeAndFlush(junk)
                        .addListener(ChannelFutureListener.CLOSE);
    }

    /** Breaks the connection off; what was sent may be lost. */
    public void reset() {
        HttpServer.reset(ctx.channel());
    }

    void gone() {
        if (done) {
            return;
        }
        done = true;
        if (whenGone != null) {
            whenGone.run();
        }
    }

    private void setCommon(HttpResponse response) {
        response.headers().set(HttpHeaderNames.SERVER, "warmpath-sim");
        HttpUtil.setKeepAlive(response, keepAlive);
    }

    private void end(ChannelFuture written) {
        done = true;
        if (!keepAlive) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
        whenDone.run();
    }
}
