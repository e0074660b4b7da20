package io.warmpath.sim.half;

import static io.warmpath.plot.Plain.plain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.engine.Timers;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine that decodes: it reserves pages, asks the engine that computes the prompt for its KV,
 * and goes on from the first token. Engine's thread only, but for {@link #close}.
 */
public final class DecodeHalf implements Half, AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** So often, once a second, an engine without a registry is asked. */
    private static final int TRIES = 14;

    /** Until an engine that has died is missed: two heartbeats. */
    private static final Duration HEARTBEATS = Duration.ofMillis(7_200);

    private final Disaggregation options;
    private final Timers timers;
    private final Executor loop;
    private final HttpClient client;
    private final Link in = new Link();
    private int rooms;

    /** {@code loop}: the engine's thread. */
    public DecodeHalf(Disaggregation options, Timers timers, Executor loop) {
        this.options = options;
        this.timers = timers;
        this.loop = loop;
        this.client =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .executor(Executors.newVirtualThreadPerTaskExecutor())
                        .build();
    }

    @Override
    public int rooms() {
        return rooms;
    }

    @Override
    public HalfRequest take(
            Meeting meeting,
            String rid,
            int promptTokens,
            Sequence.Listener answer,
            Consumer<String> failed) {
        return new Request(meeting, rid, promptTokens, answer, failed);
    }

    @Override
    public void close() {
        client.shutdownNow();
    }

    private final class Request implements HalfRequest {
        private final Meeting meeting;
        private final String rid;
        private final int promptTokens;
        private final Sequence.Listener answer;
        private final Consumer<String> failed;
        private @Nullable RankScheduler scheduler;
        private @Nullable Sequence sequence;
        private @Nullable CompletableFuture<HttpResponse<String>> asked;
        private Timers.@Nullable Timer timeout;
        private Timers.@Nullable Timer next;
        private boolean waits;
        private boolean over;
        private int tries;

        Request(
                Meeting meeting,
                String rid,
                int promptTokens,
                Sequence.Listener answer,
                Consumer<String> failed) {
            this.meeting = meeting;
            this.rid = rid;
            this.promptTokens = promptTokens;
            this.answer = answer;
            this.failed = failed;
        }

        @Override
        public Sequence.Listener listener() {
            return answer;
        }

        @Override
        public Runnable reserved() {
            return this::meet;
        }

        @Override
        public void submit(RankScheduler to, Sequence made) {
            scheduler = to;
            sequence = made;
            to.submit(made);
        }

        /** There are pages for its prompt. */
        private void meet() {
            waits = true;
            rooms++;
            timeout =
                    timers.schedule(
                            options.timeout().toNanos(), () -> fail("Decode transfer", late()));
            ask();
        }

        private void ask() {
            Integer port = meeting.port();
            tries++;
            URI uri =
                    URI.create(
                            "http://"
                                    + meeting.host()
                                    + ":"
                                    + (port == null ? options.bootstrapPort() : port)
                                    + "/sim/kv?room="
                                    + meeting.room());
            CompletableFuture<HttpResponse<String>> sent =
                    client.sendAsync(
                            HttpRequest.newBuilder(uri).build(),
                            HttpResponse.BodyHandlers.ofString());
            asked = sent;
            CompletableFuture<?> unused = sent.whenCompleteAsync(this::answered, loop);
        }

        private void answered(@Nullable HttpResponse<String> got, @Nullable Throwable error) {
            if (over) {
                return;
            }
            if (got == null) {
                lost(error);
            } else if (got.statusCode() != 200) {
                fail("Decode transfer", "Aborted by AbortReq.");
            } else {
                arrives(got.body());
            }
        }

        private void lost(@Nullable Throwable error) {
            Throwable cause = error == null || error.getCause() == null ? error : error.getCause();
            if (!(cause instanceof ConnectException)) {
                String where = meeting.host() + ":" + meeting.port();
                next =
                        timers.schedule(
                                HEARTBEATS.toNanos(),
                                () ->
                                        fail(
                                                "Decode transfer",
                                                "Lost connection with prefill instance"
                                                        + " (bootstrap_addr: "
                                                        + where
                                                        + ")"));
            } else if (tries < TRIES) {
                next = timers.schedule(1_000_000_000L, this::ask);
            } else {
                fail("Decode handshake", "Aborted by AbortReq.");
            }
        }

        /** Into this engine go other transfers too. */
        private void arrives(String body) {
            JsonNode told;
            try {
                told = JSON.readTree(body);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("another engine of ours says " + body, e);
            }
            if (told.path("tokens").asInt() != promptTokens) {
                fail("Decode transfer", "The two halves have different prompts.");
                return;
            }
            long now = timers.nanoTime();
            long nanos = options.transferNanos(told.path("tokens").asInt());
            long at = in.pass(now - nanos, nanos);
            next =
                    timers.schedule(
                            Math.max(0, at - now),
                            () -> {
                                leave();
                                if (scheduler != null && sequence != null) {
                                    scheduler.received(
                                            sequence,
                                            told.path("cached").asInt(),
                                            told.path("host").asInt());
                                }
                            });
        }

        private String late() {
            return plain(
                    "Request %d timed out after %.1fs in KVPoll.WaitingForInput",
                    meeting.room(), options.timeout().toMillis() / 1e3);
        }

        private void fail(String what, String why) {
            leave();
            if (scheduler != null && sequence != null) {
                scheduler.abort(sequence);
            }
            failed.accept(
                    ("%s failed for request rank=0 decode_req.req.rid='%s'"
                                    + " decode_req.req.bootstrap_room=%s with exception"
                                    + " KVTransferError(bootstrap_room=%s): %s")
                            .formatted(what, rid, meeting.room(), meeting.room(), why));
        }

        @Override
        public void gone() {
            leave();
        }

        private void leave() {
            if (over) {
                return;
            }
            over = true;
            if (waits) {
                rooms--;
            }
            if (timeout != null) {
                timeout.cancel();
            }
            if (next != null) {
                next.cancel();
            }
            if (asked != null) {
                asked.cancel(true);
            }
        }
    }
}
