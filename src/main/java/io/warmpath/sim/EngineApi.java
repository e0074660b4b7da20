package io.warmpath.sim;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.channel.Channel;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.CompletionRequest.Prompt;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.http.Exchange;
import io.warmpath.sim.http.HttpServer;
import io.warmpath.sim.model.AnswerWriter;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The OpenAI surface of a simulated engine. Engine's thread only, but for tokenizing.
 *
 * <p>What an engine says of itself is in {@link EngineInfo}, the fault switches in {@link
 * ControlApi}.
 */
final class EngineApi {
    /** The engines' own default for completions. */
    private static final int COMPLETION_TOKENS = 16;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NOT_FOUND = "{\"detail\":\"Not Found\"}";

    private final SimOptions options;
    private final List<Rank> ranks;
    private final SimTokenizer tokenizer;
    private final AnswerWriter writer;
    private final Executor tokenizing;
    private final InstantSource clock;
    private final Death death;
    private final AnswerShape shape;
    private final EngineInfo info;
    private final ControlApi control;
    private final Faults faults = new Faults();
    private final RandomGenerator ids;
    private @Nullable HttpServer server;
    private long requests;

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
            Death death) {
        this.options = options;
        this.ranks = ranks;
        this.tokenizer = tokenizer;
        this.writer = writer;
        this.tokenizing = tokenizing;
        this.clock = clock;
        this.death = death;
        this.shape = options.wire().sglang() ? new SglangAnswers() : new VllmAnswers();
        this.info = new EngineInfo(options, eventsPort, replayPort, ranks, clock);
        this.control = new ControlApi(faults, ranks, this::stats, death);
        // Ids must differ between engines of one seed; the event port does.
        this.ids = new Random(options.seed() * 65_537 + eventsPort);
    }

    void opened(HttpServer listening) {
        server = listening;
    }

    Faults faults() {
        return faults;
    }

    SimStats stats() {
        return new SimStats(
                server == null ? 0 : server.connections(),
                requests,
                ranks.stream().map(Rank::stats).toList());
    }

    /** Empties all ranks, or none when one is busy. */
    boolean clear() {
        if (ranks.stream().anyMatch(r -> r.load() > 0)) {
            return false;
        }
        return ranks.stream().allMatch(Rank::clear);
    }

    void handle(Exchange exchange) {
        boolean sglang = options.wire().sglang();
        switch (exchange.method() + " " + exchange.path()) {
            case "POST /v1/chat/completions" -> complete(exchange, true);
            case "POST /v1/completions" -> complete(exchange, false);
            case "POST /tokenize" -> tokenize(exchange);
            case "GET /health" -> exchange.respond(200, "text/plain", "", Map.of());
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
                if (!control.handle(exchange)) {
                    exchange.json(404, NOT_FOUND);
                }
            }
        }
    }

    private static void either(Exchange exchange, boolean served, Supplier<String> json) {
        if (served) {
            exchange.json(200, json.get());
        } else {
            exchange.json(404, NOT_FOUND);
        }
    }

    private void flush(Exchange exchange, boolean served) {
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

    private void complete(Exchange exchange, boolean chat) {
        requests++;
        int status = faults.nextFailure();
        if (status != 0) {
            fail(exchange, status);
            return;
        }
        int chunks = faults.takeDeath();
        AnswerStream.Death death =
                chunks < 0 ? null : new AnswerStream.Death(chunks, deathOf(exchange));
        if (death != null && chunks == 0) {
            death.act().run();
            return;
        }
        try {
            CompletionRequest request =
                    CompletionRequest.parse(
                            read(exchange), chat, options.models().getFirst(), partJoint());
            if (!options.wire().sglang() && !options.models().contains(request.model())) {
                exchange.json(
                        404,
                        shape.error(
                                404,
                                "NotFoundError",
                                "The model `"
                                        + request.model()
                                        + "` does not exist. Valid aliases: "
                                        + String.join(", ", options.models())
                                        + ".",
                                "model"));
                return;
            }
            Rank rank = rank(exchange, request);
            withTokens(
                    exchange, request.prompt(), ids -> start(exchange, request, ids, rank, death));
        } catch (Malformed e) {
            reject(exchange, e.text(), null);
        }
    }

    private void start(
            Exchange exchange,
            CompletionRequest request,
            int[] prompt,
            Rank rank,
            AnswerStream.@Nullable Death death) {
        int room = options.maxModelLength() - prompt.length;
        if (prompt.length == 0) {
            reject(exchange, "The prompt has no tokens.", "prompt");
            return;
        }
        if (room < 1) {
            reject(exchange, tooLong(prompt.length), "input_tokens");
            return;
        }
        Integer asked = request.maxTokens();
        int natural = Math.max(options.answerTokens(), request.minTokens());
        int limit =
                Math.min(
                        room, asked != null ? asked : request.chat() ? natural : COMPLETION_TOKENS);
        boolean endsByItself = !request.ignoreEnd() && natural <= limit;
        int[] answer = writer.write(prompt, endsByItself ? natural : limit, endsByItself);
        int[] tokens = Arrays.copyOf(prompt, prompt.length + answer.length);
        System.arraycopy(answer, 0, tokens, prompt.length, answer.length);
        AnswerShape.Head head =
                new AnswerShape.Head(
                        shape.idPrefix(request.chat()) + String.format("%016x", ids.nextLong()),
                        clock.instant().getEpochSecond(),
                        request.model(),
                        request.chat(),
                        request.returnTokenIds() ? prompt : null);
        Sequence sequence =
                new Sequence(
                        tokens,
                        prompt.length,
                        new CacheSpace(request.salt(), request.extraKey()),
                        request.sessionId(),
                        new AnswerStream(
                                exchange,
                                shape,
                                head,
                                request,
                                writer,
                                answer,
                                prompt.length,
                                endsByItself ? AnswerShape.Finish.STOP : AnswerShape.Finish.LENGTH,
                                death));
        exchange.onGone(() -> rank.scheduler().abort(sequence));
        rank.scheduler().submit(sequence);
    }

    private void tokenize(Exchange exchange) {
        try {
            JsonNode body = read(exchange);
            Prompt prompt =
                    body.path("messages").isArray()
                            ? CompletionRequest.conversation(body, partJoint())
                            : CompletionRequest.prompt(body);
            withTokens(
                    exchange,
                    prompt,
                    ids ->
                            exchange.json(
                                    200,
                                    "{\"count\":"
                                            + ids.length
                                            + ",\"max_model_len\":"
                                            + options.maxModelLength()
                                            + ",\"tokens\":"
                                            + Arrays.toString(ids).replace(" ", "")
                                            + ",\"token_strs\":null}"));
        } catch (Malformed e) {
            reject(exchange, e.text(), null);
        }
    }

    private void withTokens(Exchange exchange, Prompt prompt, Consumer<int[]> then) {
        switch (prompt) {
            case Prompt.Ids given -> then.accept(given.tokens());
            case Prompt.Text given -> {
                try {
                    tokenizing.execute(
                            () -> {
                                int[] ids = tokenizer.encode(given.text());
                                exchange.loop()
                                        .execute(
                                                () -> {
                                                    if (exchange.open()) {
                                                        then.accept(ids);
                                                    }
                                                });
                            });
                } catch (RejectedExecutionException e) {
                    // The engine is dying; so is this connection.
                    exchange.reset();
                }
            }
        }
    }

    private static JsonNode read(Exchange exchange) throws Malformed {
        try {
            JsonNode body = JSON.readTree(exchange.body());
            if (body == null || body.isMissingNode()) {
                throw new Malformed("The request has no body.");
            }
            return body;
        } catch (JsonProcessingException e) {
            throw new Malformed("JSON decode error: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new Malformed("The request body cannot be read: " + e.getMessage());
        }
    }

    /** The rank asked for, else the least busy one. */
    private Rank rank(Exchange exchange, CompletionRequest request) throws Malformed {
        Integer asked = request.rank();
        String header = exchange.header("X-data-parallel-rank");
        if (asked == null && header != null) {
            try {
                asked = Integer.valueOf(header.strip());
            } catch (NumberFormatException e) {
                throw new Malformed("X-data-parallel-rank must be a number, got " + header + ".");
            }
        }
        if (asked != null) {
            if (asked < 0 || asked >= ranks.size()) {
                throw new Malformed(
                        "data-parallel rank "
                                + asked
                                + " does not exist; this engine has "
                                + ranks.size()
                                + ".");
            }
            return ranks.get(asked);
        }
        Rank least = ranks.getFirst();
        for (Rank r : ranks) {
            if (r.load() < least.load()) {
                least = r;
            }
        }
        return least;
    }

    private Runnable deathOf(Exchange exchange) {
        // What was sent still arrives, then the stream ends unfinished: as the kernel closes the
        // sockets of a killed process.
        if (faults.onlyTheConnection()) {
            return exchange::cut;
        }
        return () -> {
            exchange.cut();
            death.now(exchange.channel());
        };
    }

    private void fail(Exchange exchange, int status) {
        String json = shape.error(status, "InjectedFailure", "This engine was told to fail.", null);
        int after = faults.retryAfterSeconds();
        exchange.respond(
                status,
                "application/json",
                json,
                after > 0 ? Map.of("retry-after", String.valueOf(after)) : Map.of());
    }

    private void reject(Exchange exchange, String message, @Nullable String param) {
        exchange.json(400, shape.error(400, "BadRequestError", message, param));
    }

    private String tooLong(int length) {
        int max = options.maxModelLength();
        return options.wire().sglang()
                ? "The input ("
                        + length
                        + " tokens) is longer than the model's context length ("
                        + max
                        + " tokens)."
                : "This model's maximum context length is "
                        + max
                        + " tokens. However, your prompt contains "
                        + length
                        + " input tokens, which exceeds this limit even without any output tokens."
                        + " Please reduce the length of the input prompt. (parameter=input_tokens,"
                        + " value="
                        + length
                        + ")";
    }

    /** What stands between the text parts of a message: each engine has its own. */
    private String partJoint() {
        return options.wire().sglang() ? " " : "\n";
    }
}
