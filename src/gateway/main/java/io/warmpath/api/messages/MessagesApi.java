package io.warmpath.api.messages;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.connection.RawAnswer;
import io.warmpath.api.connection.Refusals;
import io.warmpath.api.direct.TokenizeApi;
import io.warmpath.api.hints.ExtrasReader;
import io.warmpath.api.hints.RoutingHints;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.Visits;
import io.warmpath.tokens.template.PromptInput;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Anthropic's {@code POST /v1/messages} and {@code /v1/messages/count_tokens}, translated for
 * engines of every kind. From its translation on, a request is one of {@code /v1/chat/completions}:
 * tokens, cached prefix and choice of a worker are those of the same chat. Handlers run on the
 * event loop; bodies and answers too large for it are read on the tokenising threads.
 */
public final class MessagesApi {
    public static final String PATH = "/v1/messages";
    public static final String COUNT = PATH + "/count_tokens";

    private static final Logger LOG = Logger.getLogger(MessagesApi.class);
    private static final String CHAT = "/v1/chat/completions";

    private static final PromptInput.Chat LATER_SYSTEM =
            new PromptInput.Chat(
                    Stream.of("system", "user", "system", "user")
                            .map(role -> new PromptInput.Message(role, "t"))
                            .toList(),
                    true);

    /** Some 0.1 ms of an event loop. */
    private static final int SMALL = 4 << 10;

    private final RequestFlow flow;
    private final TokenizeApi tokenize;
    private final TokenLanes threads;
    private final FlowMetrics metrics;
    private final boolean rawPath;
    private final boolean handOff;

    /**
     * @param threads read large bodies and make large answers
     * @param rawPath write streams past the server's encoder where that is possible
     * @param handOff all clients may say what acts on engines
     */
    public MessagesApi(
            RequestFlow flow,
            TokenizeApi tokenize,
            TokenLanes threads,
            FlowMetrics metrics,
            boolean rawPath,
            boolean handOff) {
        this.flow = flow;
        this.tokenize = tokenize;
        this.threads = threads;
        this.metrics = metrics;
        this.rawPath = rawPath;
        this.handOff = handOff;
    }

    /** {@code POST /v1/messages/count_tokens}. */
    public Runnable count(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        return tokenize.run(
                context,
                request,
                requestId,
                body,
                MessagesErrors::respond,
                (anthropic, visit) -> {
                    int tokens =
                            tokenize.count(
                                    MessagesRequest.translate(
                                                    anthropic, true, this::takesLaterSystem)
                                            .chat(),
                                    visit);
                    return JsonOutput.object(json -> json.writeNumberField("input_tokens", tokens));
                });
    }

    /** {@code POST /v1/messages}. */
    public Runnable create(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        Creating creating = new Creating(context, request, requestId, gone);
        MultiMap headers = headers(request);
        RequestParser.Terms terms =
                new RequestParser.Terms(
                        RoutingHints.wantsExplanation(request.headers()),
                        flow.looksAtPrompts(),
                        handOff || Visits.mayHandOff(context),
                        flow.objectives());
        if (body.length() <= SMALL) {
            creating.start(read(requestId, headers, body, terms));
            return creating::leave;
        }
        try {
            threads.brief(
                    () -> {
                        try {
                            Read read = read(requestId, headers, body, terms);
                            context.runOnContext(v -> creating.start(read));
                        } catch (GatewayException e) {
                            context.runOnContext(v -> creating.refuse(e.error()));
                        } catch (RuntimeException | LinkageError e) {
                            LOG.errorf(e, "request %s failed by a bug in the gateway", requestId);
                            context.runOnContext(
                                    v -> creating.refuse(new GatewayError.Internal(requestId)));
                        }
                    });
        } catch (RejectedExecutionException e) {
            throw new GatewayException(tokenize.busy());
        }
        return creating::leave;
    }

    private record Read(MessagesRequest.Translated translated, InferenceRequest request) {}

    private Read read(String requestId, MultiMap headers, Buffer body, RequestParser.Terms terms) {
        MessagesRequest.Translated translated =
                MessagesRequest.translate(body, false, this::takesLaterSystem);
        InferenceRequest request =
                RequestParser.parse(
                        RequestParser.Endpoint.CHAT,
                        requestId,
                        CHAT,
                        headers,
                        translated.chat(),
                        terms);
        ExtrasReader.refuseQuery(request.hints());
        return new Read(translated, request);
    }

    /**
     * Claude Code sends some, and templates such as Qwen's refuse them. Engines move them to the
     * front, too, where they do not know.
     */
    private boolean takesLaterSystem(String model) {
        return tokenize.renders(model, LATER_SYSTEM);
    }

    /** The body that goes out is ours; engines look for keys where OpenAI's clients put them. */
    private static MultiMap headers(HttpServerRequest request) {
        MultiMap headers = MultiMap.caseInsensitiveMultiMap().addAll(request.headers());
        headers.set("content-type", "application/json").remove("content-encoding");
        String key = headers.get("x-api-key");
        if (key != null && !headers.contains("authorization")) {
            headers.set("authorization", "Bearer " + key);
        }
        return headers;
    }

    /** One request between its body and its exchange. On its event loop. */
    private final class Creating {
        private final Context context;
        private final HttpServerRequest request;
        private final String requestId;
        private final Runnable gone;
        private @Nullable Runnable running;
        private boolean over;

        Creating(Context context, HttpServerRequest request, String requestId, Runnable gone) {
            this.context = context;
            this.request = request;
            this.requestId = requestId;
            this.gone = gone;
        }

        void start(Read read) {
            if (over) {
                return;
            }
            MessagesAnswer answer =
                    new MessagesAnswer(
                            RawAnswer.of(request, requestId, rawPath, gone),
                            request.response(),
                            requestId,
                            read.translated(),
                            this::make,
                            bytes -> BodyMemory.take(context, bytes));
            running = flow.start(context, read.request(), answer);
        }

        void refuse(GatewayError error) {
            if (!over) {
                over = true;
                metrics.rejected();
                metrics.refused(Refusals.of(request.path(), request.headers(), requestId, error));
                MessagesErrors.respond(request.response(), error, requestId);
            }
        }

        void leave() {
            if (running != null) {
                running.run();
            } else if (!over) {
                over = true;
                metrics.cancelledEarly();
            }
        }

        private void make(int bytes, MessagesAnswer.Making work, MessagesAnswer.Done done) {
            if (bytes > SMALL) {
                try {
                    threads.brief(
                            () -> {
                                MessagesAnswer.Made made = made(work);
                                context.runOnContext(v -> done.on(made));
                            });
                    return;
                } catch (RejectedExecutionException e) {
                    LOG.debugf("%s no thread is free; its answer is made here", requestId);
                }
            }
            done.on(made(work));
        }

        private MessagesAnswer.Made made(MessagesAnswer.Making work) {
            try {
                return work.make();
            } catch (RuntimeException | LinkageError e) {
                LOG.errorf(e, "request %s failed by a bug in the gateway", requestId);
                return new MessagesAnswer.Made(
                        500, MessagesErrors.body(new GatewayError.Internal(requestId), requestId));
            }
        }
    }
}
