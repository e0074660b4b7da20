package io.warmpath.gateway.agent;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.upstream.UpstreamListener;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Reads along with a chat's answer and adds it to what is kept of its session's history. The answer
 * passes as it comes; it is read once it has ended, on a tokenising thread. On the request's event
 * loop.
 */
final class AnswerKeeper implements UpstreamListener {
    /** Streamed answers are some 30 times what they say. */
    private static final int MAX_ANSWER_BYTES = 2 << 20;

    private final TokenLanes lanes;
    private final ControlledSessions table;
    private final ControlledSession session;
    private final byte[] said;
    private final UpstreamListener client;
    private @Nullable ByteArrayOutputStream answer = new ByteArrayOutputStream(4096);
    private boolean eventStream;

    AnswerKeeper(
            TokenLanes lanes,
            ControlledSessions table,
            ControlledSession session,
            byte[] said,
            UpstreamListener client) {
        this.lanes = lanes;
        this.table = table;
        this.session = session;
        this.said = said;
        this.client = client;
    }

    @Override
    public void head(int code, MultiMap headers) {
        String type = headers.get("content-type");
        eventStream = type != null && type.startsWith("text/event-stream");
        if (code != 200) {
            answer = null; // no turn of the conversation
        } else if (headers.contains("content-encoding")) {
            answer = null;
            table.forget(session);
        }
        client.head(code, headers);
    }

    @Override
    public void data(byte[] b, int from, int length) {
        keep(b, from, length);
        client.data(b, from, length);
    }

    @Override
    public void end(byte[] b, int from, int length) {
        keep(b, from, length);
        ByteArrayOutputStream whole = answer;
        answer = null;
        if (whole != null) {
            begin(whole.toByteArray()); // before the client can send its next turn
        }
        client.end(b, from, length);
    }

    @Override
    public void failed(GatewayError error) {
        answer = null;
        client.failed(error);
    }

    private void keep(byte[] b, int from, int length) {
        ByteArrayOutputStream kept = answer;
        if (kept != null && kept.size() + length > MAX_ANSWER_BYTES) {
            answer = null;
            table.forget(session);
        } else if (kept != null) {
            kept.write(b, from, length);
        }
    }

    private void begin(byte[] whole) {
        CompletableFuture<Void> keeping = new CompletableFuture<>();
        session.keeping(keeping);
        try {
            lanes.brief(
                    () -> {
                        try {
                            read(whole);
                        } finally {
                            keeping.complete(null);
                        }
                    });
        } catch (RejectedExecutionException e) {
            table.forget(session);
            keeping.complete(null);
        }
    }

    private void read(byte[] answered) {
        AnswerMessage message = AnswerMessage.read(answered, eventStream);
        if (message == null) {
            table.forget(session);
        } else {
            byte[] whole = with(message, AnswerMessage.REASONING);
            table.keep(
                    session, whole.length > table.maxHistoryBytes() ? with(message, null) : whole);
        }
    }

    private byte[] with(AnswerMessage message, @Nullable String reasoning) {
        return ChatMessages.with(said, GatewayJson.bytes(message.asMessage(reasoning)));
    }
}
