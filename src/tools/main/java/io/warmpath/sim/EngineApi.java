package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.channel.Channel;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.CompletionRequest.Prompt;
import io.warmpath.sim.half.Half;
import io.warmpath.sim.http.HttpServer;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.model.AnswerWriter;
import io.warmpath.sim.model.SimTokenizer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which path of a simulated engine does what. Engine's thread only. Answers are made in {@link
 * Completions}, what an engine says of itself in {@link EngineInfo}, the fault switches in {@link
 * ControlApi}.
 */
final class EngineApi {
    /** What a real one sleeps, idle or not, before it answers /health. */
    private static final Duration SGLANG_HEALTH_SLEEP = Duration.ofSeconds(1);

    private static final String NOT_FOUND = "{\"detail\":\"Not Found\"}";

    private final SimOptions options;
    private final List<Rank> ranks;
    private final AnswerShape shape;
    private final PromptIds prompts;
    private final Completions completions;
    private final EngineInfo info;
    private final ControlApi control;
    private final Faults faults = new Faults();
    private final Chats chats;
    private final SessionApi sessions;
    private final LoadsPage loads;
    private final PinApi pins;
    private final @Nullable Half half;
    private @Nullable HttpServer server;

    /** Ends the engine; called on its thread. */
    interface Death {
        void now(Channel... spared);
    }

    EngineApi(
            SimOptions options,
            int eventsPort,
            int replayPort,
            List<Rank> ranks,
            SimTokenizer tokenizer,
            AnswerWriter writer,
            Executor tokenizing,
            InstantSource clock,
            Death death,
            @Nullable Half half,
            int bootstrapPort) {
        this.options = options;
        this.ranks = ranks;
        this.half = half;
        this.shape = options.wire().sglang() ? new SglangAnswers() : new VllmAnswers();
        this.info = new EngineInfo(options, eventsPort, replayPort, ranks, clock, bootstrapPort);
        this.control = new ControlApi(faults, ranks, this::stats, death);
        this.prompts = new PromptIds(tokenizer, tokenizing);
        this.chats = new Chats(shape.partJoint(), options.chats(), faults);
        this.sessions =
                new SessionApi(
                        ranks, options.agents(), new Random(options.seed() + 31L * eventsPort));
        this.pins = new PinApi(options, ranks);
        this.loads = new LoadsPage(options, ranks, clock, this::rooms);
        this.completions =
                new Completions(
                        options,
                        ranks,
                        prompts,
                        writer,
                        clock,
                        shape,
                        faults,
                        chats,
                        death,
                        // Ids must differ between engines of one seed; the event port does.
                        new Random(options.seed() * 65_537 + eventsPort),
                        half);
    }

    void opened(HttpServer listening) {
        server = listening;
    }

    Faults faults() {
        return faults;
    }

    private int rooms() {
        return half == null ? 0 : half.rooms();
    }

    SimStats stats() {
        return new SimStats(
                server == null ? 0 : server.connections(),
                completions.received(),
                rooms(),
                ranks.stream().map(Rank::stats).toList());
    }

    /** Empties all ranks, or none when one is busy. */
    boolean clear() {
        if (ranks.stream().anyMatch(r -> r.load() > 0)) {
            return false;
        }
        return ranks.stream().allMatch(Rank::clear);
    }

    void handle(SimExchange exchange) {
        if (!exchange.path().startsWith("/sim/")) {
            exchange.muteWhile(faults::stopped);
        }
        boolean completion = exchange.method().equals("POST");
        if (completion && !faults.delay().isZero() && !exchange.path().startsWith("/sim/")) {
            exchange.after(faults.delay(), () -> answer(exchange));
        } else {
            answer(exchange);
        }
    }

    private void answer(SimExchange exchange) {
        boolean sglang = options.wire().sglang();
        switch (exchange.method() + " " + exchange.path()) {
            case "POST /v1/chat/completions" ->
                    completions.complete(exchange, CompletionRequest.Form.CHAT);
            case "POST /v1/completions" ->
                    completions.complete(exchange, CompletionRequest.Form.COMPLETION);
            case "POST /tokenize" -> tokenize(exchange);
            case "GET /health" -> {
                if (sglang) {
                    exchange.after(SGLANG_HEALTH_SLEEP, () -> health(exchange));
                } else {
                    health(exchange);
                }
            }
            case "GET /ready", "GET /ping" ->
                    exchange.respond(
                            sglang ? faults.healthStatus() : 404, "text/plain", "", Map.of());
            case "GET /v1/models" -> exchange.json(200, info.models());
            case "GET /metrics" ->
                    exchange.respond(
                            200,
                            "text/plain; version=0.0.4; charset=utf-8",
                            MetricsPage.of(options, ranks),
                            Map.of());
            case "GET /server_info", "GET /get_server_info" ->
                    either(exchange, sglang, info::serverInfo);
            case "GET /kv_event_sources" -> either(exchange, !sglang, info::eventSources);
            case "GET /version" -> either(exchange, !sglang, info::version);
            case "GET /flush_cache", "POST /flush_cache" -> flush(exchange, sglang);
            case "POST /reset_prefix_cache" ->
                    either(exchange, !sglang, () -> "{\"success\":" + clear() + "}");
            default -> {
                if (!(sglang && sglangOnly(exchange)) && !control.handle(exchange)) {
                    exchange.json(404, NOT_FOUND);
                }
            }
        }
    }

    /** False when the path is not one of these. */
    private boolean sglangOnly(SimExchange exchange) {
        switch (exchange.method() + " " + exchange.path()) {
            case "POST /generate" ->
                    completions.complete(exchange, CompletionRequest.Form.GENERATE);
            case "POST /open_session" -> sessions.open(exchange);
            case "POST /close_session" -> sessions.close(exchange);
            case "GET /v1/loads" -> loads.answer(exchange);
            case "POST /hicache/pin_prefix" -> {
                return pins.answer(exchange);
            }
            case "GET /hicache/pin_prefix" -> {
                return pins.wrongMethod(exchange);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void health(SimExchange exchange) {
        exchange.respond(faults.healthStatus(), "text/plain", faults.healthText(), Map.of());
    }

    private static void either(SimExchange exchange, boolean served, Supplier<String> json) {
        if (served) {
            exchange.json(200, json.get());
        } else {
            exchange.json(404, NOT_FOUND);
        }
    }

    private void flush(SimExchange exchange, boolean served) {
        if (!served) {
            exchange.json(404, NOT_FOUND);
            return;
        }
        boolean done = clear();
        exchange.respond(
                done ? 200 : 400,
                "text/plain; charset=utf-8",
                (done ? "Cache flushed." : "Flush cache failed.")
                        + "\nPlease check backend logs for more details. (When there are running"
                        + " or waiting requests, the operation will not be performed.)\n",
                Map.of());
    }

    private void tokenize(SimExchange exchange) {
        try {
            JsonNode body = PromptIds.read(exchange);
            Prompt prompt =
                    body.path("messages").isArray()
                            ? chats.prompt(body)
                            : CompletionRequest.prompt(body);
            prompts.resolve(
                    exchange,
                    prompt,
                    ids ->
                            exchange.json(
                                    200,
                                    """
                                            {"count":%s,"max_model_len":%s,"tokens":%s,\
                                            "token_strs":null}"""
                                            .formatted(
                                                    ids.length,
                                                    options.maxModelLength(),
                                                    Arrays.toString(ids).replace(" ", ""))));
        } catch (Malformed e) {
            reject(exchange, e.text(), null);
        }
    }

    private void reject(SimExchange exchange, String message, @Nullable String param) {
        exchange.json(400, shape.error(400, "BadRequestError", message, param));
    }
}
