package io.warmpath.api.messages;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.api.json.JsonTree;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.StreamMove;
import io.warmpath.routing.RoutingDecision;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} that turns what engines answer to {@code /v1/chat/completions} into what clients
 * of Anthropic's API expect: a message, its events, or an error. Streams are passed on event by
 * event; everything else is gathered, and its head is written with it. On the request's event loop,
 * but for large answers, which are made on other threads.
 */
final class MessagesAnswer implements Answer {
    /** More than any model says in one answer; an engine that sends more is not listened to. */
    private static final int MAX_BYTES = 64 << 20;

    private static final int MAX_ERROR_TEXT = 2_000;

    /** Makes the answer, maybe elsewhere, and hands it over on the request's event loop. */
    interface Maker {
        void make(int bytes, Making work, Done done);
    }

    interface Making {
        Made make();
    }

    interface Done {
        void on(Made made);
    }

    record Made(int status, byte[] body) {}

    private final Answer next;
    private final HttpServerResponse response;
    private final String requestId;
    private final MessagesRequest.Translated request;
    private final Maker maker;
    private final IntPredicate room;
    private final ByteArrayOutputStream whole = new ByteArrayOutputStream();
    private @Nullable MessagesFrames frames;
    private final List<StreamMove> moves = new ArrayList<>(0);
    private @Nullable RoutingDecision explained;
    private @Nullable MultiMap engine;
    private @Nullable MultiMap own;
    private int status;
    private boolean tooLong;
    private boolean noRoom;

    MessagesAnswer(
            Answer next,
            HttpServerResponse response,
            String requestId,
            MessagesRequest.Translated request,
            Maker maker,
            IntPredicate room) {
        this.next = next;
        this.response = response;
        this.requestId = requestId;
        this.request = request;
        this.maker = maker;
        this.room = room;
    }

    @Override
    public void explain(RoutingDecision decision) {
        explained = decision;
    }

    @Override
    public void moved(StreamMove move) {
        moves.add(move);
    }

    @Override
    public void head(int code, MultiMap engineHeaders, @Nullable MultiMap ours, boolean keep) {
        MultiMap headers = MultiMap.caseInsensitiveMultiMap().addAll(engineHeaders);
        headers.set(MessagesErrors.REQUEST_ID, requestId);
        String type = engineHeaders.get("content-type");
        boolean events = type != null && type.regionMatches(true, 0, "text/event-stream", 0, 17);
        status = code;
        engine = headers;
        own = ours;
        if (code == 200 && events && !engineHeaders.contains("content-encoding")) {
            frames = new MessagesFrames(requestId, request.model(), request.stops(), room);
            RoutingDecision why = explained;
            if (why != null) {
                frames.explain(() -> DecisionJson.of(why, moves));
            }
            next.head(code, headers, ours, false);
        }
    }

    @Override
    public void write(byte[] b, int from, int length) {
        MessagesFrames stream = frames;
        if (stream == null) {
            gather(b, from, length);
            return;
        }
        byte[] events = stream.add(b, from, length);
        if (events.length > 0) {
            next.write(events, 0, events.length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        MessagesFrames stream = frames;
        if (stream == null) {
            gather(b, from, length);
            maker.make(whole.size(), this::made, this::pass);
            return;
        }
        write(b, from, length);
        byte[] rest = stream.ended();
        next.end(rest, 0, rest.length);
    }

    private void gather(byte[] b, int from, int length) {
        noRoom = noRoom || !room.test(length);
        tooLong = tooLong || whole.size() + length > MAX_BYTES;
        if (!tooLong && !noRoom) {
            whole.write(b, from, length);
        }
    }

    /** Any thread; the gathered bytes do not change any more. */
    private Made made() {
        byte[] bytes = whole.toByteArray();
        boolean plain = engine == null || !engine.contains("content-encoding");
        if (noRoom) {
            return error(
                    503, "There is no memory for this answer now; ask for a stream, or later.");
        }
        if (status == 200 && !tooLong && plain) {
            try {
                return new Made(
                        200,
                        MessagesJson.message(bytes, requestId, request.model(), request.stops()));
            } catch (IOException e) {
                return error(502, "The engine's answer cannot be read: it is no whole chat.");
            }
        }
        return status >= 400 && plain
                ? error(status, reason(bytes))
                : error(502, "The engine's answer cannot be read.");
    }

    private Made error(int code, String message) {
        return new Made(code, MessagesErrors.body(MessagesErrors.type(code), message, requestId));
    }

    /** What the engine says; whatever it is when it is not an error as engines write them. */
    private String reason(byte[] bytes) {
        String said = null;
        try {
            said = ChatChunk.read(bytes, 0, bytes.length).error();
        } catch (IOException e) {
            // Not JSON: the text itself, below.
        }
        String text = said == null ? JsonTree.text(bytes).strip() : said;
        if (text.isEmpty()) {
            text = "The engine answered " + status + ".";
        }
        return text.length() > MAX_ERROR_TEXT ? text.substring(0, MAX_ERROR_TEXT) + "..." : text;
    }

    private void pass(Made made) {
        MultiMap headers = engine == null ? MultiMap.caseInsensitiveMultiMap() : engine;
        headers.set("content-type", "application/json").remove("content-encoding");
        next.head(made.status(), headers, own, false);
        next.end(made.body(), 0, made.body().length);
    }

    @Override
    public void onInputEnd(Runnable action) {
        next.onInputEnd(action);
    }

    @Override
    public void keepAlive() {
        if (frames != null) { // what is gathered is no stream
            next.write(MessagesFrames.PING, 0, MessagesFrames.PING.length);
        }
    }

    @Override
    public void fail(GatewayError error) {
        MessagesErrors.respond(response, error, requestId);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        byte[] body = MessagesErrors.body(error, requestId);
        MessagesFrames stream = frames;
        if (stream == null) {
            next.reset(); // an event has no place in it
            return;
        }
        byte[] last = stream.failed(body);
        next.end(last, 0, last.length);
    }

    @Override
    public void reset() {
        next.reset();
    }

    @Override
    public boolean isFull() {
        return next.isFull();
    }

    @Override
    public void onDrain(Runnable action) {
        next.onDrain(action);
    }
}
