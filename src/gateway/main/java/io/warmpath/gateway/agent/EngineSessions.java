package io.warmpath.gateway.agent;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.gateway.request.GatewayJson;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Worker;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SharedSessions;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens sessions on engines and closes them. An engine knows a session by a name that no other
 * opening has had, of whichever tenant or gateway, so an old close never meets a newer session.
 *
 * <p>{@link #open} on a request's event loop, {@link #ask} on any loop; answers come on the same.
 */
public final class EngineSessions {
    /** An answer is an id or a short error. */
    private static final int MAX_ANSWER_BYTES = 64 << 10;

    /** What the engine gets beyond the client's idle time: the gateway closes first. */
    private static final int ENGINE_GRACE_SECONDS = 30;

    /** Engines want it, and only those with sessions of text read it. */
    private static final int CAPACITY = 65_536;

    final ControlledSessions table;
    final SharedSessions shared;
    private final EngineClient engines;
    private final Duration openTimeout;
    private final String prefix;

    /**
     * @param shared with other gateways
     * @param openTimeout how long a client waits for an engine to open its session
     * @param nonce another one for each process
     */
    public EngineSessions(
            ControlledSessions table,
            SharedSessions shared,
            EngineClient engines,
            Duration openTimeout,
            long nonce) {
        this.table = table;
        this.shared = shared;
        this.engines = engines;
        this.openTimeout = openTimeout;
        this.prefix = "wp-" + Long.toHexString(nonce) + "-";
    }

    /** For gateways that are asked for no session. */
    public static EngineSessions off(EngineClient engines) {
        ControlledSessions none =
                new ControlledSessions(
                        new ControlledSessions.Options(0, 0, 0, 0), System::nanoTime, p -> {});
        return new EngineSessions(
                none,
                new SharedSessions(SessionNews.NONE, none, 0, System::nanoTime, () -> 0),
                engines,
                Duration.ofSeconds(1),
                0);
    }

    /** What the engine calls it. */
    public String id(Place at) {
        return prefix + Integer.toHexString(at.serial());
    }

    /**
     * @param done gets null, or why it is not open
     */
    public void open(
            Context context,
            Worker worker,
            Place at,
            int timeoutSeconds,
            @Nullable String authorization,
            Consumer<@Nullable String> done) {
        ObjectNode body =
                GatewayJson.object()
                        .put("capacity_of_str_len", CAPACITY)
                        .put("session_id", id(at))
                        .put("streaming", true)
                        .put("timeout", timeoutSeconds + ENGINE_GRACE_SECONDS);
        ask(context, worker, "/open_session", body, openTimeout, authorization, done);
    }

    /**
     * One question to one engine.
     *
     * @param context of the event loop that this is called on
     * @param done gets null, or why it has failed; exactly once
     */
    public void ask(
            Context context,
            Worker worker,
            String path,
            ObjectNode body,
            Duration timeout,
            @Nullable String authorization,
            Consumer<@Nullable String> done) {
        MultiMap extra = MultiMap.caseInsensitiveMultiMap();
        extra.add("content-type", "application/json");
        if (authorization != null) {
            extra.add("authorization", authorization);
        }
        Asked asked = new Asked(done);
        UpstreamCall call =
                engines.send(
                        new UpstreamRequest(
                                worker.name(),
                                worker.url(),
                                path,
                                MultiMap.caseInsensitiveMultiMap(),
                                extra,
                                Buffer.buffer(GatewayJson.bytes(body)),
                                false,
                                true),
                        asked);
        long timer =
                context.owner()
                        .setTimer(
                                Math.max(1, timeout.toMillis()),
                                t -> {
                                    if (asked.finish(
                                            "no answer within " + timeout.toMillis() + " ms")) {
                                        call.cancel();
                                    }
                                });
        asked.whenDone(() -> context.owner().cancelTimer(timer));
    }

    /** One answer; on the loop of its call. */
    private static final class Asked implements UpstreamListener {
        private final Consumer<@Nullable String> done;
        private final Buffer text = Buffer.buffer();
        private Runnable after = () -> {};
        private int status;
        private boolean finished;

        Asked(Consumer<@Nullable String> done) {
            this.done = done;
        }

        void whenDone(Runnable then) {
            if (finished) {
                then.run();
            } else {
                after = then;
            }
        }

        boolean finish(@Nullable String problem) {
            if (finished) {
                return false;
            }
            finished = true;
            after.run();
            done.accept(problem);
            return true;
        }

        @Override
        public void head(int code, MultiMap headers) {
            status = code;
        }

        @Override
        public void data(byte[] b, int from, int length) {
            if (text.length() + length <= MAX_ANSWER_BYTES) {
                text.appendBytes(b, from, length);
            }
        }

        @Override
        public void end(byte[] b, int from, int length) {
            data(b, from, length);
            finish(status == 200 ? null : "status " + status + message());
        }

        private String message() {
            String all = text.toString(StandardCharsets.UTF_8);
            String said = GatewayJson.tree(all).path("error").path("message").textValue();
            return said == null ? "" : ", " + said; // a page may have addresses in it
        }

        @Override
        public void failed(GatewayError error) {
            finish(error.message());
        }
    }
}
