package io.warmpath.gateway.agent;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.pin.SidePost;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SharedSessions;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.UpstreamRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens sessions on engines and closes them. An engine knows a session by a name that no other
 * opening has had, of whichever tenant or gateway, so an old close never meets a newer session.
 * {@link #open} on a request's event loop, {@link #ask} on any loop; answers come on the same.
 */
public final class EngineSessions {
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

    /** {@code done}: gets null, or why it is not open. */
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
        UpstreamRequest request =
                new UpstreamRequest(
                        worker.name(),
                        worker.url(),
                        path,
                        MultiMap.caseInsensitiveMultiMap(),
                        extra,
                        Buffer.buffer(GatewayJson.bytes(body)),
                        false,
                        true,
                        List.of());
        SidePost.send(engines, context.owner(), request, timeout, r -> done.accept(problem(r)));
    }

    private static @Nullable String problem(SidePost.Reply reply) {
        if (reply.status() == 0 || reply.status() == 200) {
            return reply.status() == 0 ? reply.text() : null;
        }
        // An answer that is no JSON may be a page with addresses in it.
        String said = GatewayJson.tree(reply.text()).path("error").path("message").textValue();
        return "status " + reply.status() + (said == null ? "" : ", " + said);
    }
}
