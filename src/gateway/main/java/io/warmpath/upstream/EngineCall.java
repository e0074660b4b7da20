package io.warmpath.upstream;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.vertx.core.Context;
import io.warmpath.fault.GatewayError;
import io.warmpath.net.FileShortage;
import io.warmpath.net.VertxInternals;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One call to an engine, whatever its connection is. On one event loop from start to end. Ends
 * exactly once, by the answer's end, by a failure, by a time-out or by {@link #cancel}; whatever
 * the connection reports afterwards is dropped.
 */
abstract class EngineCall extends WorkerDeadlines.Entry implements UpstreamCall {
    final UpstreamListener listener;
    private final EngineLoop loop;
    private final String worker;
    private final Context context;
    private final AnswerTimeouts timeouts;
    private @Nullable UpstreamRequest
            unsent; // null once it is sent: a long answer must not keep it
    private @Nullable Watch watch;
    private long received;
    private boolean reused;
    private boolean headSeen;
    private boolean over;
    private boolean cancelled;
    private boolean paused;

    EngineCall(
            EngineLoop loop, Context context, UpstreamRequest request, UpstreamListener listener) {
        super(loop.deadlines(), request.base());
        this.worker = request.worker();
        this.loop = loop;
        this.context = context;
        this.unsent = request;
        this.timeouts = loop.options().timeouts(request);
        this.listener = listener;
    }

    final void start() {
        UpstreamRequest request = unsent;
        if (request == null) {
            throw new IllegalStateException("a call is sent once");
        }
        deadlineIn(loop.options().connectTimeout());
        loop.deadlines().add(this);
        connect(request);
    }

    /** Asks for a connection. */
    abstract void connect(UpstreamRequest request);

    /** The connection stands, and is this call's until its answer ends. Returns what to send. */
    final UpstreamRequest toSend(boolean onReusedConnection) {
        UpstreamRequest request = unsent;
        if (request == null) {
            throw new IllegalStateException("a call gets one connection");
        }
        unsent = null;
        reused = onReusedConnection;
        deadlineIn(timeouts.firstByte());
        return request;
    }

    final void notConnected(Throwable cause) {
        if (FileShortage.OF_PROCESS.explains(cause)) {
            fail(new GatewayError.OutOfFiles());
        } else if (cause instanceof ConnectTimeoutException
                || cause instanceof SslHandshakeTimeoutException) {
            fail(timedOut("connect", loop.options().connectTimeout()));
        } else {
            fail(new GatewayError.WorkerUnreachable(worker));
        }
    }

    /** So much more of the answer's body has come. */
    final void received(int bytes) {
        received += bytes;
    }

    /** The answer has begun, or gone on, and more is waited for; once a turn of the loop. */
    final void heard() {
        headSeen = true;
        heard(loop.now(), timeouts.idle().toNanos());
    }

    final boolean isHeadSeen() {
        return headSeen;
    }

    final boolean isOver() {
        return over;
    }

    final boolean isCancelled() {
        return cancelled;
    }

    /** The connection has ended before the answer. */
    final void broke() {
        fail(new GatewayError.UpstreamBroke(worker, received));
    }

    /** The engine does not speak HTTP/1.1 as it should. */
    final void malformed(String what) {
        fail(new GatewayError.BadUpstreamAnswer(worker, what));
    }

    private GatewayError timedOut(String phase, Duration after) {
        return new GatewayError.UpstreamTimeout(worker, phase, after);
    }

    private void fail(GatewayError error) {
        if (over) {
            return;
        }
        over();
        Object before = enter();
        try {
            listener.failed(error);
        } finally {
            leave(before);
        }
    }

    @Override
    final void late() {
        fail(
                unsent != null
                        ? timedOut("connect", loop.options().connectTimeout())
                        : headSeen
                                ? timedOut("idle", timeouts.idle())
                                : timedOut("first byte", timeouts.firstByte()));
        abandon();
    }

    @Override
    public final void cancel() {
        cancelled = true;
        if (!over) {
            over();
            abandon();
        }
    }

    @Override
    public final void watchedBy(Watch by) {
        watch = by;
    }

    @Override
    final void silent() {
        if (paused || over) {
            return;
        }
        Watch of = watch;
        if (of != null) {
            Object before = enter();
            try {
                of.silent();
            } finally {
                leave(before);
            }
        }
        if (isLost() && !over) {
            fail(new GatewayError.WorkerUnwell(worker));
            abandon();
        }
    }

    @Override
    public final void pause() {
        paused = true;
        if (!over) {
            read(false);
        }
    }

    @Override
    public final void resume() {
        paused = false;
        if (!over && read(true)) {
            deadlineIn(timeouts.idle());
        }
    }

    @Override
    public final boolean reusedConnection() {
        return reused;
    }

    /**
     * Goes on reading, or stops.
     *
     * @return false: there is nothing to read from yet
     */
    abstract boolean read(boolean on);

    /** The rest is not wanted; the engine has to see that at once. After the end of the call. */
    abstract void abandon();

    final void over() {
        over = true;
        loop.deadlines().remove(this);
    }

    /** What follows runs in the context of the call, until {@link #leave}. */
    final @Nullable Object enter() {
        return VertxInternals.enter(context);
    }

    final void leave(@Nullable Object before) {
        VertxInternals.leave(context, before);
    }

    private void deadlineIn(Duration timeout) {
        deadline(loop.now(), timeout.toNanos());
    }
}
