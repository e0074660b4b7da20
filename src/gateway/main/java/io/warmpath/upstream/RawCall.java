package io.warmpath.upstream;

import io.vertx.core.Context;
import io.warmpath.upstream.answer.AnswerHead;
import org.jspecify.annotations.Nullable;

/** One call over {@link RawConnection}. */
final class RawCall extends EngineCall {
    private final RawLoop loop;
    private @Nullable RawConnection connection;

    RawCall(RawLoop loop, Context context, UpstreamRequest request, UpstreamListener listener) {
        super(loop, context, request, listener);
        this.loop = loop;
    }

    @Override
    void connect(UpstreamRequest request) {
        loop.pool(request.base()).acquire(this, request.freshConnection());
    }

    void connected(RawConnection to) {
        connection = to;
        to.send(this, toSend(to.reused()));
    }

    /** One read turn's worth of the answer. */
    void turn(AnswerHead head, byte[] b, int length, boolean end) {
        if (isOver()) {
            return;
        }
        boolean first = !isHeadSeen();
        received(length);
        if (end) {
            over();
            connection = null;
        } else {
            heard();
        }
        Object before = enter();
        try {
            hand(first ? head : null, b, length, end);
        } finally {
            leave(before);
        }
    }

    private void hand(@Nullable AnswerHead head, byte[] b, int length, boolean end) {
        if (head != null) {
            listener.head(head.status(), head.headers());
        }
        if (isCancelled()) {
            return;
        }
        if (end) {
            listener.end(b, 0, length);
        } else if (length > 0) {
            listener.data(b, 0, length);
        }
    }

    /**
     * The engine does not speak HTTP/1.1 as it should, and the connection is closed.
     *
     * @param head null when it is the head that is wrong
     */
    void malformed(@Nullable AnswerHead head, byte[] b, int length, String what) {
        if (head != null) {
            turn(head, b, length, false); // what was right before that
        }
        malformed(what);
    }

    @Override
    void abandon() {
        if (connection != null) {
            connection.abandon();
        }
    }

    @Override
    boolean read(boolean on) {
        if (connection == null) {
            return false;
        }
        connection.read(on);
        return true;
    }
}
