package io.warmpath.api.connection;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.warmpath.api.request.InferencePath;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.HeaderList;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A request that went past the server's codec and is there as a whole. On its event loop. It is
 * over once: when it was answered, or when its connection ended.
 */
public final class RawRequest implements ClientRequest {
    private final RawReply.ClientChannel client;
    private final RawHead head;
    private final Context context;
    private final BodyMemory.Reservation memory;
    private final Consumer<RawRequest> answered;
    private @Nullable HeaderList extra;
    private @Nullable IntConsumer ended;
    private @Nullable Runnable leave;
    private @Nullable RawReply reply;
    private boolean gone;

    /**
     * @param memory what its body takes
     * @param answered called at the end of its answer, not at that of its connection
     */
    RawRequest(
            RawReply.ClientChannel client,
            RawHead head,
            Context context,
            BodyMemory.Reservation memory,
            Consumer<RawRequest> answered) {
        this.client = client;
        this.head = head;
        this.context = context;
        this.memory = memory;
        this.answered = answered;
    }

    public Context context() {
        return context;
    }

    public InferencePath path() {
        return head.path();
    }

    BodyMemory.Reservation memory() {
        return memory;
    }

    /** Headers for whatever answer it gets; null: none. */
    @Nullable HeaderList extra() {
        return extra;
    }

    @Override
    public String target() {
        return head.path().path();
    }

    @Override
    public @Nullable String query() {
        return null; // it would have gone through the codec
    }

    @Override
    public MultiMap headers() {
        return head.headers();
    }

    @Override
    public void putHeader(String name, String value) {
        HeaderList to = extra;
        if (to == null) {
            to = new HeaderList();
            extra = to;
        }
        to.set(name, value);
    }

    @Override
    public void onEnd(IntConsumer action) {
        ended = action;
    }

    /** What to do when the connection ends before the answer does. */
    void onGone(Runnable action) {
        leave = action;
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    @Override
    public Answer answer(String requestId, boolean raw, Runnable goneAction) {
        return reply(requestId);
    }

    @Override
    public void refuse(GatewayError error, String requestId) {
        RawReply mine = reply;
        (mine == null ? reply(requestId) : mine).fail(error);
    }

    private RawReply reply(String requestId) {
        RawReply mine = new RawReply(client, this, requestId);
        if (gone) {
            mine.gone();
        }
        reply = mine;
        return mine;
    }

    @Override
    public void discard(long lingerMillis) {
        // It is there as a whole.
    }

    /** Its answer has ended. */
    void answered() {
        if (gone) {
            throw new IllegalStateException("answered twice: " + path().path());
        }
        gone = true;
        end();
        answered.accept(this);
    }

    /** Its connection has. */
    void disconnected() {
        if (gone) {
            return;
        }
        gone = true;
        if (reply != null) {
            reply.gone();
        }
        end();
        Runnable action = leave;
        if (action != null) {
            action.run();
        }
    }

    private void end() {
        memory.free();
        IntConsumer action = ended;
        ended = null;
        if (action != null) {
            action.accept(reply == null ? 200 : reply.status());
        }
    }

    /** Its client sends nothing more, and may have left. */
    void inputEnded() {
        if (reply != null) {
            reply.inputEnded();
        } else if (!gone) {
            RawReply.sayContinue(client);
        }
    }

    /** The channel takes more. */
    void drain() {
        if (reply != null) {
            reply.drain();
        }
    }
}
