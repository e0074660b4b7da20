package io.warmpath.sim;

import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.half.Half;
import io.warmpath.sim.half.HalfRequest;
import io.warmpath.sim.half.Meeting;
import io.warmpath.sim.half.PrefillHalf;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.model.AnswerWriter;
import io.warmpath.sim.session.SessionRefused;
import io.warmpath.sim.session.SimSessionTurn;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Completion requests from the parsed body to a rank's queue. Engine's thread only. */
final class Completions {
    /** The engines' own default for completions. */
    private static final int COMPLETION_TOKENS = 16;

    private final SimOptions options;
    private final List<Rank> ranks;
    private final PromptIds prompts;
    private final AnswerWriter writer;
    private final InstantSource clock;
    private final AnswerShape shape;
    private final Faults faults;
    private final Chats chats;
    private final EngineApi.Death death;
    private final RandomGenerator ids;
    private final @Nullable Half half;
    private long received;

    /**
     * @param ids makes the answers' ids
     * @param half what this engine does of each request; null: all
     */
    Completions(
            SimOptions options,
            List<Rank> ranks,
            PromptIds prompts,
            AnswerWriter writer,
            InstantSource clock,
            AnswerShape shape,
            Faults faults,
            Chats chats,
            EngineApi.Death death,
            RandomGenerator ids,
            @Nullable Half half) {
        this.options = options;
        this.ranks = ranks;
        this.prompts = prompts;
        this.writer = writer;
        this.clock = clock;
        this.shape = shape;
        this.faults = faults;
        this.chats = chats;
        this.death = death;
        this.ids = ids;
        this.half = half;
    }

    /** Requests received, failed ones included. */
    long received() {
        return received;
    }

    /** Answers one request, now or later. */
    void complete(SimExchange exchange, CompletionRequest.Form form) {
        received++;
        int status = faults.nextFailure();
        if (status != 0) {
            fail(exchange, status);
            return;
        }
        int chunks = faults.takeDeath();
        EventWriter.Death death =
                chunks < 0
                        ? null
                        : new EventWriter.Death(
                                chunks, faults.end() == Faults.End.STALL, deathOf(exchange));
        if (death != null && chunks == 0) {
            death.act().run();
            return;
        }
        try {
            CompletionRequest request =
                    CompletionRequest.parse(
                            PromptIds.read(exchange), form, options.models().getFirst(), chats);
            if (!options.wire().sglang() && !options.models().contains(request.model())) {
                exchange.json(
                        404,
                        shape.error(
                                404,
                                "NotFoundError",
                                "The model `%s` does not exist. Valid aliases: %s."
                                        .formatted(
                                                request.model(),
                                                String.join(", ", options.models())),
                                "model"));
                return;
            }
            Rank rank = rank(exchange, request);
            prompts.resolve(
                    exchange, request.prompt(), ids -> start(exchange, request, ids, rank, death));
        } catch (Malformed e) {
            reject(exchange, form, e.text(), null);
        }
    }

    private void start(
            SimExchange exchange,
            CompletionRequest request,
            int[] prompt,
            Rank rank,
            EventWriter.@Nullable Death death) {
        if (prompt.length == 0) {
            reject(exchange, request.form(), "The prompt has no tokens.", "prompt");
            return;
        }
        boolean sglang = options.wire().sglang();
        String given = sglang ? request.rid() : null;
        String id = given == null ? freshId(request) : given;
        if (half != null && request.meeting() == null) {
            exchange.json(
                    400,
                    "{\"error\":{\"message\":"
                            + AnswerShape.quoted(
                                    "Invalid request: Disaggregated request received without"
                                            + " bootstrap room id. req.rid='"
                                            + id
                                            + "'")
                            + "}}");
            return;
        }
        try {
            SimSessionTurn turn =
                    sglang
                            ? rank.sessions()
                                    .begin(request.session(), request.sessionId(), id, prompt)
                            : new SimSessionTurn.Plain(prompt);
            start(exchange, request, id, turn, rank, death);
        } catch (SessionRefused e) {
            refused(exchange, request, id, e.text(), prompt.length);
        }
    }

    private void start(
            SimExchange exchange,
            CompletionRequest request,
            String id,
            SimSessionTurn turn,
            Rank rank,
            EventWriter.@Nullable Death death) {
        int[] prompt = turn.prompt();
        int room = options.maxModelLength() - prompt.length;
        if (room < 1) {
            turn.aborted();
            reject(exchange, request.form(), tooLong(prompt.length), "input_tokens");
            return;
        }
        Integer asked = isPrefill() ? Integer.valueOf(1) : request.maxTokens();
        // Where an answer ends is decided by what has been said of it.
        int said = writer.begun(prompt);
        int natural =
                isPrefill()
                        ? Integer.MAX_VALUE // its one token ends nothing
                        : Math.max(Math.max(1, options.answerTokens() - said), request.minTokens());
        int limit =
                Math.min(
                        room, asked != null ? asked : request.chat() ? natural : COMPLETION_TOKENS);
        boolean endsByItself = !request.ignoreEnd() && natural <= limit;
        int[] written = writer.write(prompt, endsByItself ? natural : limit, endsByItself);
        Stops.Ending ending =
                request.stops().ending(written, writer, endsByItself, request.minTokens());
        int[] tokens = Arrays.copyOf(prompt, prompt.length + ending.tokens());
        System.arraycopy(written, 0, tokens, prompt.length, ending.tokens());
        int[] answer = Arrays.copyOf(written, ending.tokens());
        CacheSpace space = new CacheSpace(request.salt(), request.extraKey());
        Sequence.Listener listener =
                listener(
                        exchange,
                        new EventWriter(exchange, death),
                        request,
                        id,
                        prompt,
                        rank,
                        answer,
                        ending);
        HalfRequest halved =
                half == null || request.meeting() == null
                        ? null
                        : half.take(
                                request.meeting(),
                                id,
                                prompt.length,
                                listener,
                                why -> failed(exchange, request, why));
        Sequence sequence =
                new Sequence(
                        tokens,
                        prompt.length,
                        space,
                        request.sessionId(),
                        turn.slot(),
                        request.priority(),
                        halved == null ? null : halved.reserved(),
                        new TurnListener(
                                turn,
                                tokens,
                                () -> pin(rank, request, prompt, space),
                                halved == null ? listener : halved.listener()));
        exchange.onGone(
                () -> {
                    if (halved != null) {
                        halved.gone();
                    }
                    rank.scheduler().abort(sequence);
                    turn.aborted();
                });
        if (halved == null) {
            rank.scheduler().submit(sequence);
        } else {
            halved.submit(rank.scheduler(), sequence);
        }
    }

    private boolean isPrefill() {
        return half instanceof PrefillHalf;
    }

    /** The other half has not come, or what it has to give: SGLang's 500, or its last event. */
    private static void failed(SimExchange exchange, CompletionRequest request, String why) {
        String message = AnswerShape.quoted(why);
        if (!request.stream()) {
            exchange.json(
                    500,
                    "{\"object\":\"error\",\"message\":"
                            + message
                            + ",\"type\":\"500\",\"param\":null,\"code\":500}");
            return;
        }
        exchange.beginStream();
        exchange.event(
                "{\"error\": {\"object\": \"error\", \"message\": "
                        + message
                        + ", \"type\": \"INTERNAL_SERVER_ERROR\", \"param\": null, \"code\": 500}}");
        exchange.event("[DONE]");
        exchange.endStream();
    }

    /** What {@code kv_hints} asks for; there is no answer to it. */
    private void pin(Rank rank, CompletionRequest request, int[] prompt, CacheSpace space) {
        if (request.pinNanos() > 0 && options.agents().maxPinnedRatio() != null) {
            rank.pin(prompt, space, request.pinNanos());
        }
    }

    private Sequence.Listener listener(
            SimExchange exchange,
            EventWriter events,
            CompletionRequest request,
            String id,
            int[] prompt,
            Rank rank,
            int[] answer,
            Stops.Ending ending) {
        if (request.form() == CompletionRequest.Form.GENERATE) {
            return new GenerateStream(
                    exchange,
                    events,
                    clock,
                    writer,
                    request,
                    new GenerateStream.Asked(
                            id,
                            prompt.length,
                            ranks.size() > 1 ? Integer.toString(ranks.indexOf(rank)) : "null",
                            options.streamsIncrements(),
                            isPrefill() ? 0 : answer.length),
                    answer,
                    ending);
        }
        AnswerShape.Head head =
                new AnswerShape.Head(
                        id,
                        clock.instant().getEpochSecond(),
                        request.model(),
                        request.chat(),
                        request.returnTokenIds() ? prompt : null);
        return new AnswerStream(
                exchange, shape, head, request, writer, answer, prompt.length, ending, events);
    }

    private String freshId(CompletionRequest request) {
        String id = String.format("%016x", ids.nextLong());
        return request.form() == CompletionRequest.Form.GENERATE
                ? id + id
                : shape.idPrefix(request.chat()) + id;
    }

    /**
     * The session does not take it: of {@code /generate} alone, as others know none. A stream has
     * begun by then, as far as the client can see.
     */
    private void refused(
            SimExchange exchange,
            CompletionRequest request,
            String id,
            String why,
            int promptTokens) {
        if (!request.stream()) {
            reject(exchange, request.form(), why, null);
            return;
        }
        exchange.beginStream();
        exchange.event(
                "{\"text\":\"\",\"output_ids\":[],\"meta_info\":{\"id\":"
                        + AnswerShape.quoted(id)
                        + ",\"finish_reason\":{\"type\":\"abort\",\"message\":"
                        + AnswerShape.quoted(why)
                        + ",\"status_code\":400,\"err_type\":\"BadRequestError\"},"
                        + "\"prompt_tokens\":"
                        + promptTokens
                        + ",\"completion_tokens\":0,\"cached_tokens\":0}}");
        exchange.event("[DONE]");
        exchange.endStream();
    }

    /** The rank asked for, else the least busy one. */
    private Rank rank(SimExchange exchange, CompletionRequest request) throws Malformed {
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
                        "data-parallel rank %s does not exist; this engine has %s."
                                .formatted(asked, ranks.size()));
            }
            return ranks.get(asked);
        }
        Meeting meeting = request.meeting();
        if (meeting != null && isPrefill()) {
            return ranks.get((int) (meeting.room() % ranks.size()));
        }
        Rank least = ranks.getFirst();
        for (Rank r : ranks) {
            if (r.load() < least.load()) {
                least = r;
            }
        }
        return least;
    }

    private Runnable deathOf(SimExchange exchange) {
        // What was sent still arrives, then the stream ends unfinished: as the kernel closes the
        // sockets of a killed process.
        return switch (faults.end()) {
            case CONNECTION -> exchange::cut;
            case STALL -> () -> {};
            case GARBAGE -> exchange::babble;
            case ENGINE ->
                    () -> {
                        exchange.cut();
                        death.now(exchange.channel());
                    };
        };
    }

    private void fail(SimExchange exchange, int status) {
        String json = shape.error(status, "InjectedFailure", "This engine was told to fail.", null);
        int after = faults.retryAfterSeconds();
        exchange.respond(
                status,
                "application/json",
                json,
                after > 0 ? Map.of("retry-after", String.valueOf(after)) : Map.of());
    }

    private void reject(
            SimExchange exchange,
            CompletionRequest.Form form,
            String message,
            @Nullable String param) {
        exchange.json(
                400,
                form == CompletionRequest.Form.GENERATE
                        ? "{\"error\":{\"message\":" + AnswerShape.quoted(message) + "}}"
                        : shape.error(400, "BadRequestError", message, param));
    }

    private String tooLong(int length) {
        int max = options.maxModelLength();
        return options.wire().sglang()
                ? ("The input (%s tokens) is longer than the model's context length (%s"
                                + " tokens).")
                        .formatted(length, max)
                : ("This model's maximum context length is %s tokens. However, your prompt"
                                + " contains %s input tokens, which exceeds this limit even without"
                                + " any output tokens. Please reduce the length of the input"
                                + " prompt. (parameter=input_tokens, value=%s)")
                        .formatted(max, length, length);
    }
}
