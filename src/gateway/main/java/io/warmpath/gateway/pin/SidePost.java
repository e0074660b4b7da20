package io.warmpath.gateway.pin;

import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.warmpath.fault.GatewayError;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A small question to an engine beside the users' requests, answered in time or not at all. On one
 * event loop; {@code then} is called exactly once.
 */
public final class SidePost implements UpstreamListener {
    private static final int MAX_BODY_BYTES = 64 << 10;

    /**
     * What came of it.
     *
     * @param status 0 when there was no whole answer
     * @param text the answer's body, or why there is none
     */
    public record Reply(int status, String text) {}

    private final Vertx vertx;
    private final Consumer<Reply> then;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(256);
    private @Nullable UpstreamCall call;
    private long timer = -1;
    private int status;
    private boolean done;

    private SidePost(Vertx vertx, Consumer<Reply> then) {
        this.vertx = vertx;
        this.then = then;
    }

    /** {@code timeout}: null: as long as an answer of the engine may take. */
    public static void send(
            EngineClient engines,
            Vertx vertx,
            UpstreamRequest request,
            @Nullable Duration timeout,
            Consumer<Reply> then) {
        SidePost post = new SidePost(vertx, then);
        if (timeout != null) {
            long millis = Math.max(1, timeout.toMillis());
            String why = "no answer within " + timeout.toMillis() + " ms";
            post.timer = vertx.setTimer(millis, t -> post.giveUp(why));
        }
        post.call = engines.send(request, post);
    }

    @Override
    public void head(int code, MultiMap headers) {
        status = code;
    }

    @Override
    public void data(byte[] b, int from, int length) {
        if (body.size() + length > MAX_BODY_BYTES) {
            giveUp("an answer of more than " + MAX_BODY_BYTES + " bytes");
        } else {
            body.write(b, from, length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        data(b, from, length);
        end(new Reply(status, body.toString(StandardCharsets.UTF_8)));
    }

    @Override
    public void failed(GatewayError error) {
        end(new Reply(0, error.message()));
    }

    private void giveUp(String why) {
        UpstreamCall running = call;
        if (!done && running != null) {
            running.cancel();
        }
        end(new Reply(0, why));
    }

    private void end(Reply reply) {
        if (!done) {
            done = true;
            vertx.cancelTimer(timer);
            then.accept(reply);
        }
    }
}
