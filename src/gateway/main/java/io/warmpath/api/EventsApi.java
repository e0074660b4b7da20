package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.events.PostedFeed;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Locale;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /events}: KV events of engines that publish none.
 *
 * <p>The event loop gathers the body; reading and applying it is the feed's thread's, which answers
 * through the loop again.
 */
public final class EventsApi {
    private static final Logger LOG = Logger.getLogger(EventsApi.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/events";

    /** Before the routes of the runtime, like all of ours. */
    private static final int FIRST = -1000;

    private static final int MAX_BODY_BYTES = 8 << 20;
    private static final Duration BUSY = Duration.ofSeconds(1);

    private final @Nullable PostedFeed feed;
    private final AdminAccess access;

    /**
     * @param feed null: this gateway follows no events
     */
    public EventsApi(@Nullable PostedFeed feed, AdminAccess access) {
        this.feed = feed;
        this.access = access;
    }

    public void mount(Router router) {
        router.route(PATH).order(FIRST).handler(this::handle);
    }

    private void handle(RoutingContext rc) {
        if (!access.admits(rc, "POST")) {
            return;
        }
        HttpServerRequest request = rc.request();
        Buffer body = Buffer.buffer();
        request.handler(
                chunk -> {
                    if (body.length() <= MAX_BODY_BYTES) {
                        body.appendBuffer(chunk);
                    }
                });
        request.endHandler(end -> hand(rc, body));
        request.resume();
    }

    private void hand(RoutingContext rc, Buffer body) {
        if (feed == null) {
            fail(
                    rc,
                    new GatewayError.BadRequest(
                            "", "This gateway follows no KV events; see use-kv-events."));
            return;
        }
        if (body.length() > MAX_BODY_BYTES) {
            fail(
                    rc,
                    new GatewayError.BadRequest(
                            "",
                            "The body is larger than "
                                    + MAX_BODY_BYTES
                                    + " bytes; post its events in several batches."));
            return;
        }
        String type = rc.request().getHeader("content-type");
        String media = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        PostedReader reader;
        switch (media) {
            case "", "application/json" -> reader = PostedReader.JSON;
            case "application/msgpack", "application/x-msgpack", "application/vnd.msgpack" ->
                    reader = PostedReader.MSGPACK;
            default -> {
                fail(
                        rc,
                        new GatewayError.BadRequest(
                                "",
                                "Content-Type `"
                                        + media
                                        + "` is not known here; known are application/json and"
                                        + " application/msgpack."));
                return;
            }
        }
        Context loop = rc.vertx().getOrCreateContext();
        boolean handed =
                feed.post(
                        body.getBytes(),
                        reader::read,
                        taken -> loop.runOnContext(v -> answer(rc, taken)),
                        e -> loop.runOnContext(v -> refuse(rc, e)));
        if (!handed) {
            fail(
                    rc,
                    new GatewayError.Overloaded(
                            429, "Too many posted events wait to be applied", BUSY));
        }
    }

    private static void answer(RoutingContext rc, PostedFeed.Taken taken) {
        ObjectNode json = JSON.createObjectNode();
        json.put("next_sequence", taken.next());
        json.put("repeated", taken.repeated());
        json.put("state", taken.state().word());
        if (!rc.response().ended() && !rc.response().closed()) {
            rc.response().putHeader("content-type", "application/json");
            rc.response().end(Buffer.buffer(json.toString()));
        }
    }

    private static void refuse(RoutingContext rc, RuntimeException e) {
        if (e instanceof GatewayException known) {
            fail(rc, known.error());
            return;
        }
        LOG.error("Posted events could not be handled", e);
        fail(rc, new GatewayError.Internal(AdminAccess.requestId(rc)));
    }

    private static void fail(RoutingContext rc, GatewayError error) {
        Buffer body = ErrorMapper.body(error);
        if (error instanceof GatewayError.EventsOutOfOrder order) {
            try {
                ObjectNode json = (ObjectNode) JSON.readTree(body.getBytes());
                json.put("epoch", order.epoch());
                json.put("next_sequence", order.sequence());
                body = Buffer.buffer(json.toString());
            } catch (IOException e) {
                throw new UncheckedIOException("our own JSON", e);
            }
        }
        ErrorMapper.respond(rc.response(), error, AdminAccess.requestId(rc), body);
    }
}
