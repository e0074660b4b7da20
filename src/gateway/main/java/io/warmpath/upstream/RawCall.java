package io.warmpath.upstream;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.vertx.core.Context;
import io.warmpath.fault.GatewayError;
import io.warmpath.upstream.AnswerParser.AnswerHead;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One call over {@link RawConnection}. On one event loop from start to end.
 *
 * <p>Ends exactly once: {@code over} is set by the answer's end, by a failure, by a time-out or by
 * {@link #cancel}, and whatever the connection reports afterwards is dropped.
 */
final class RawCall extends Deadlines.Entry implements UpstreamCall {
    private final RawLoop loop;
    private final Context context;
    private final String worker;
    private final AnswerTimeouts timeouts;
    private final UpstreamListener listener;
    private @Nullable UpstreamRequest
            unsent; // null once it is sent: a long answer must not keep it
    private @Nullable RawConnection connection;
    private boolean started;
    private boolean reused;
    private boolean headSeen;
    private boolean over;
    private boolean paused;
    private @Nullable Watch watch;
    private boolean cancelled;
    private long received;

    RawCall(RawLoop loop, Context context, UpstreamRequest request, UpstreamListener listener) {
        this.loop = loop;
        this.context = context;
        this.unsent = request;
        this.worker = request.worker();
        this.timeouts = loop.options().timeouts(request);
        this.listener = listener;
    }

    void start() {
        deadlineIn(loop.options().connectTimeout());
        loop.deadlines().add(this);
        UpstreamRequest request = unsent;
        if (request != null) {
            loop.pool(request.base()).acquire(this, request.freshConnection());
        }
    }

    boolean isOver() {
        return over;
    }

    /** The connection stands, and is this call's until its answer ends. */
    void connected(RawConnection to) {
        connection = to;
        started = true;
        reused = to.reused();
        deadlineIn(timeouts.firstByte());
        UpstreamRequest request = unsent;
        unsent = null;
        if (request == null) {
            throw new IllegalStateException("a call gets one connection");
        }
        to.send(this, request);
    }

    void notConnected(Throwable cause) {
        fail(
                cause instanceof ConnectTimeoutException
                                || cause instanceof SslHandshakeTimeoutException
                        ? timedOut("connect", loop.options().connectTimeout())
                        : new GatewayError.WorkerUnreachable(worker));
    }

    /** One read turn's worth of the answer. */
    void turn(AnswerHead head, byte[] b, int length, boolean end) {
        if (over) {
            return;
        }
        received += length;
        if (end) {
            over();
        } else {
            heard(loop.now(), timeouts.idle().toNanos());
        }
        Object before = VertxInternals.enter(context);
        try {
            hand(head, b, length, end);
        } finally {
            VertxInternals.leave(context, before);
        }
    }

    private void hand(AnswerHead head, byte[] b, int length, boolean end) {
        if (!headSeen) {
            headSeen = true;
            listener.head(head.status(), head.headers());
        }
        if (cancelled) {
            return;
        }
        if (end) {
            listener.end(b, 0, length);
        } else if (length > 0) {
            listener.data(b, 0, length);
        }
    }

    /**
     * The engine does not speak HTTP/1.1 as it should.
     *
     * @param head null when it is the head that is wrong
     */
    void malformed(@Nullable AnswerHead head, byte[] b, int length, String what) {
        if (head != null) {
            turn(head, b, length, false); // what was right before that
        }
        connection = null;
        fail(new GatewayError.BadUpstreamAnswer(worker, what));
    }

    /** The connection has ended before the answer. */
    void broke() {
        connection = null;
        fail(new GatewayError.UpstreamBroke(worker, received));
    }

    private GatewayError timedOut(String phase, Duration after) {
        return new GatewayError.UpstreamTimeout(worker, phase, after);
    }

    private void fail(GatewayError error) {
        if (over) {
            return;
        }
        over();
        Object before = VertxInternals.enter(context);
        try {
            listener.failed(error);
        } finally {
            VertxInternals.leave(context, before);
        }
    }

    @Override
    protected void expired() {
        RawConnection running = connection;
        fail(
                !started
                        ? timedOut("connect", loop.options().connectTimeout())
                        : headSeen
                                ? timedOut("idle", timeouts.idle())
                                : timedOut("first byte", timeouts.firstByte()));
        if (running != null) {
            running.abandon();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        if (!over) {
            RawConnection running = connection;
            over();
            if (running != null) {
                running.abandon();
            }
        }
    }

    @Override
    String worker() {
        return worker;
    }

    @Override
    public void watchedBy(Watch by) {
        watch = by;
    }

    @Override
    void silent() {
        Watch told = watch;
        if (told != null && !paused && !over) {
            Object before = VertxInternals.enter(context);
            try {
                told.silent();
            } finally {
                VertxInternals.leave(context, before);
            }
        }
    }

    @Override
    public void pause() {
        paused = true;
        if (connection != null && !over) {
            connection.pause();
        }
    }

    @Override
    public void resume() {
        paused = false;
        if (connection != null && !over) {
            deadlineIn(timeouts.idle());
            connection.resume();
        }
    }

    @Override
    public boolean reusedConnection() {
        return reused;
    }

    private void over() {
        over = true;
        connection = null;
        loop.deadlines().remove(this);
    }

    private void deadlineIn(Duration timeout) {
        deadline(loop.now(), timeout.toNanos());
    }
}
