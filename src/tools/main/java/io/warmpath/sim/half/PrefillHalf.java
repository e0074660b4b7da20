package io.warmpath.sim.half;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.engine.Timers;
import io.warmpath.sim.http.SimExchange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine that computes prompts, and the registry where those that decode find it. A prompt is
 * computed once the other engine has pages for it, and answered once its KV has left. Engine's
 * thread only. The registry's paths are SGLang's, but for one: the KV itself goes through Mooncake
 * there, and here an engine waits for the answer of {@code GET /sim/kv?room=N} instead, which has
 * no KV.
 */
public final class PrefillHalf implements Half {
    private static final List<String> RANKS =
            List.of("prefill_dp_rank", "prefill_cp_rank", "target_tp_rank", "target_pp_rank");

    private final Disaggregation options;
    private final int pageSize;
    private final int ranks;
    private final Timers timers;
    private final Link out = new Link();
    private final Map<Long, Room> rooms = new HashMap<>();

    /** Who is in it. */
    private static final class Room {
        @Nullable Request request;
        @Nullable SimExchange decode;
    }

    public PrefillHalf(Disaggregation options, int pageSize, int ranks, Timers timers) {
        this.options = options;
        this.pageSize = pageSize;
        this.ranks = ranks;
        this.timers = timers;
    }

    @Override
    public int rooms() {
        return rooms.size();
    }

    @Override
    public HalfRequest take(
            Meeting meeting,
            String rid,
            int promptTokens,
            Sequence.Listener answer,
            Consumer<String> failed) {
        return new Request(meeting.room(), rid, promptTokens, answer, failed);
    }

    /** The registry's answers. */
    public void handle(SimExchange exchange, int httpPort) {
        switch (exchange.method() + " " + exchange.path()) {
            case "GET /health" -> exchange.respond(200, "text/plain", "OK", Map.of());
            case "GET /route" -> route(exchange, httpPort);
            case "GET /sim/kv" -> meet(exchange);
            default -> exchange.respond(404, "text/plain", "404: Not Found", Map.of());
        }
    }

    private void route(SimExchange exchange, int httpPort) {
        if (RANKS.stream().anyMatch(r -> exchange.param(r) == null)) {
            exchange.respond(400, "text/plain", "Missing inputs for bootstrap server.", Map.of());
            return;
        }
        exchange.json(
                200,
                """
                        {"attn_tp_size": 1, "attn_cp_size": 1, "dp_size": %s,\
                         "pp_size": 1, "page_size": %s, "kv_cache_dtype": "auto",\
                         "follow_bootstrap_room": true,\
                         "enable_dsa_cache_layer_split": false,\
                         "decode_allocation_policy": "early",\
                         "enable_kv_cache_sharding": false, "prefill_http_port": %s}"""
                        .formatted(ranks, pageSize, httpPort));
    }

    /** An engine that decodes has pages for what comes into this room. */
    private void meet(SimExchange exchange) {
        long number;
        try {
            number = Long.parseLong(String.valueOf(exchange.param("room")));
        } catch (NumberFormatException e) {
            exchange.json(400, "{\"error\":\"room must be a number\"}");
            return;
        }
        Room room = rooms.computeIfAbsent(number, n -> new Room());
        if (room.decode != null) {
            exchange.json(409, "{\"error\":\"this room is taken\"}");
            return;
        }
        room.decode = exchange;
        exchange.onGone(
                () -> {
                    room.decode = null;
                    if (room.request == null) {
                        rooms.remove(number);
                    }
                });
        if (room.request != null) {
            room.request.compute();
        }
    }

    private final class Request implements HalfRequest, Sequence.Listener {
        private final long number;
        private final String rid;
        private final int promptTokens;
        private final Sequence.Listener answer;
        private final Consumer<String> failed;
        private @Nullable RankScheduler scheduler;
        private @Nullable Sequence sequence;
        private Timers.@Nullable Timer timer;
        private boolean over;
        private int cached;
        private int loaded;

        Request(
                long number,
                String rid,
                int promptTokens,
                Sequence.Listener answer,
                Consumer<String> failed) {
            this.number = number;
            this.rid = rid;
            this.promptTokens = promptTokens;
            this.answer = answer;
            this.failed = failed;
        }

        @Override
        public Sequence.Listener listener() {
            return this;
        }

        @Override
        public @Nullable Runnable reserved() {
            return null;
        }

        @Override
        public void submit(RankScheduler to, Sequence made) {
            scheduler = to;
            sequence = made;
            Room room = rooms.computeIfAbsent(number, n -> new Room());
            if (room.request != null) {
                over = true;
                failed.accept(words("Room is taken."));
                return;
            }
            room.request = this;
            if (room.decode != null) {
                compute();
            } else {
                timer =
                        timers.schedule(
                                options.timeout().toNanos(),
                                () -> end(words(late()), "nobody came"));
            }
        }

        void compute() {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
            if (scheduler != null && sequence != null) {
                scheduler.submit(sequence);
            }
        }

        private String late() {
            return plain(
                    "Request %d timed out after %.1fs in KVPoll.Bootstrapping",
                    number, options.timeout().toMillis() / 1e3);
        }

        private String words(String why) {
            return ("Prefill bootstrap failed for request rank=0 req.rid='%s'"
                            + " req.bootstrap_room=%s with exception"
                            + " KVTransferError(bootstrap_room=%s): %s")
                    .formatted(rid, number, number, why);
        }

        @Override
        public void started(int cachedTokens, int hostTokens) {
            cached = cachedTokens;
            loaded = hostTokens;
        }

        @Override
        public void token(int index) {}

        /** Computed: its KV leaves, after what leaves already. */
        @Override
        public void finished() {
            long now = timers.nanoTime();
            long at = out.pass(now, options.transferNanos(promptTokens));
            timer = timers.schedule(at - now, this::handedOver);
        }

        private void handedOver() {
            if (over) {
                return;
            }
            over = true;
            Room room = rooms.remove(number);
            if (room != null && room.decode != null) {
                room.decode.json(
                        200,
                        """
                                {"cached":%s,"host":%s,"tokens":%s}"""
                                .formatted(cached, loaded, promptTokens));
            }
            answer.started(cached, loaded);
            answer.token(0);
            answer.finished();
        }

        @Override
        public void gone() {
            end(null, "Aborted by AbortReq.");
        }

        /** {@code toClient}: null: it has left. */
        private void end(@Nullable String toClient, String toDecode) {
            if (over) {
                return;
            }
            over = true;
            if (timer != null) {
                timer.cancel();
            }
            Room room = rooms.get(number);
            if (room != null && room.request == this) {
                rooms.remove(number);
                if (room.decode != null) {
                    room.decode.json(410, "{\"error\":\"" + toDecode + "\"}");
                }
            }
            if (toClient != null) {
                failed.accept(toClient);
            }
        }
    }
}
