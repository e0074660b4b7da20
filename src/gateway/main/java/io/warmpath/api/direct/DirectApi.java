package io.warmpath.api.direct;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.api.connection.BodyReceiver;
import io.warmpath.api.connection.RawAnswer;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.hints.RoutingHints;
import io.warmpath.api.request.DirectReader;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.plan.Advisor;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.tokens.template.PromptInput;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * {@code /router/*}: the router's answers without a request, and reservations for callers who send
 * their requests themselves. Open to whoever may send requests: nothing here does more than a
 * request would, and a gateway in front of both sees one kind of caller. Handlers run on the event
 * loop.
 */
public final class DirectApi {
    /** One way to answer from a decision. */
    interface Form {
        Buffer of(Advisor.Question asked, RoutingDecision decision, boolean tokensKnown);
    }

    /**
     * A question. {@code ofRequest}: asks where a request would go: not to busy workers, and also
     * when its tokens are not known.
     */
    public record Ask(Form form, boolean ofRequest) {
        public static final Ask BEST_WORKER = new Ask(DirectJson::best, true);
        public static final Ask POTENTIAL_LOADS = new Ask(DirectJson::loads, false);
        public static final Ask OVERLAP_SCORES = new Ask(DirectJson::overlaps, false);
        public static final Ask EXPLAIN = new Ask(DirectJson::explained, true);
    }

    private final RequestFlow flow;
    private final Advisor advisor;
    private final boolean rawPath;

    /** {@code rawPath}: write streams past the server's encoder where that is possible. */
    public DirectApi(RequestFlow flow, boolean rawPath) {
        this.flow = flow;
        this.advisor = flow.advisor();
        this.rawPath = rawPath;
    }

    private RequestParser.Terms terms(boolean explain) {
        return new RequestParser.Terms(explain, true, false, flow.objectives());
    }

    public BodyReceiver.Arrival question(Ask ask) {
        return (context, request, requestId, body, gone) -> {
            Replying reply =
                    new Replying(request, requestId, 200) {
                        @Override
                        Buffer answer(RoutingDecision decision, boolean tokensKnown) {
                            if (!tokensKnown && !ask.ofRequest) {
                                throw InvalidRequest.bad("", notKnown(question()));
                            }
                            return ask.form.of(question(), decision, tokensKnown);
                        }
                    };
            reply.run(
                    DirectReader.Kind.QUESTION,
                    body,
                    read -> {
                        advisor.wouldDecide(context, read.question(), ask.ofRequest, reply);
                        return () -> {};
                    });
            return reply::gone;
        };
    }

    /** {@code POST /router/generate}. */
    public Runnable generate(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        // The body that goes out is ours, whatever the caller said of its own.
        MultiMap headers = MultiMap.caseInsensitiveMultiMap().addAll(request.headers());
        headers.set("content-type", "application/json").set("accept", "text/event-stream");
        headers.remove("accept-encoding");
        headers.remove("content-encoding");
        DirectReader.Read read =
                DirectReader.read(
                        DirectReader.Kind.GENERATION,
                        requestId,
                        headers,
                        body,
                        advisor.models(),
                        terms(RoutingHints.wantsExplanation(request.headers())));
        InferenceRequest asked = read.question().request();
        if (!(asked.prompt() instanceof PromptInput.Ids prompt)) {
            throw InvalidRequest.bad("token_ids", "You must provide token_ids.");
        }
        return flow.start(
                context,
                asked,
                RawAnswer.of(request, requestId, rawPath, gone),
                new TokenForm(prompt.tokens(), read.parameters()));
    }

    /** {@code POST /router/reservations}. */
    public Runnable reserve(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        Replying reply =
                new Replying(request, requestId, 201) {
                    @Override
                    Buffer answer(RoutingDecision decision, boolean tokensKnown) {
                        return DirectJson.reserved(
                                reservation(), life(), question(), decision, tokensKnown);
                    }

                    @Override
                    void unheard() {
                        // Whoever asked for it has gone and will not release it.
                        advisor.reservations().release(reservation());
                    }
                };
        reply.run(
                DirectReader.Kind.RESERVATION,
                body,
                read ->
                        advisor.reserve(
                                context,
                                new Advisor.Wish(
                                        read.question(),
                                        reply.reservation(),
                                        read.life(),
                                        read.mayWait()),
                                reply));
        return reply::gone;
    }

    /** {@code POST /router/reservations/{id}/prefill_complete}. */
    public void prefillComplete(HttpServerRequest request, String id, String requestId) {
        act(request, requestId, () -> advisor.reservations().prefillComplete(id));
    }

    /** {@code POST /router/reservations/{id}/output_block}. */
    public Runnable outputBlock(
            HttpServerRequest request, String id, String requestId, Buffer body) {
        act(
                request,
                requestId,
                () -> advisor.reservations().outputBlock(id, DirectReader.decayFraction(body)));
        return () -> {};
    }

    /** {@code DELETE /router/reservations/{id}}. */
    public void release(HttpServerRequest request, String id, String requestId) {
        act(request, requestId, () -> advisor.reservations().release(id));
    }

    private static void act(HttpServerRequest request, String requestId, Runnable action) {
        request.resume(); // Quarkus hands requests over paused; a body is not looked at
        HttpServerResponse response = request.response();
        try {
            action.run();
            response.setStatusCode(204).putHeader(RequestIds.HEADER, requestId).end();
        } catch (GatewayException e) {
            ErrorMapper.respond(response, e.error(), requestId);
        }
    }

    private static String notKnown(Advisor.Question question) {
        return "The tokens of this prompt are not known here, so nothing is known of what is cached"
                + " of it: send `token_ids`, or configure a tokenizer for the model `"
                + question.request().model()
                + "`.";
    }

    private interface Read {
        /** Returns what to do when the caller leaves. */
        Runnable on(DirectReader.Read read);
    }

    /** One call and its one answer. */
    private abstract class Replying implements Advisor.Reply {
        private final HttpServerRequest request;
        private final String requestId;
        private final int status;
        private DirectReader.@Nullable Read read;
        private Runnable leave = () -> {};

        Replying(HttpServerRequest request, String requestId, int status) {
            this.request = request;
            this.requestId = requestId;
            this.status = status;
        }

        /** After a decision only. */
        abstract Buffer answer(RoutingDecision decision, boolean tokensKnown);

        /** The caller has gone before its answer. */
        void unheard() {}

        void run(DirectReader.Kind kind, Buffer body, Read next) {
            DirectReader.Read done;
            try {
                done =
                        DirectReader.read(
                                kind,
                                requestId,
                                request.headers(),
                                body,
                                advisor.models(),
                                terms(true));
            } catch (GatewayException e) {
                ErrorMapper.respond(request.response(), e.error(), requestId);
                return;
            }
            read = done;
            try {
                leave = next.on(done);
            } catch (GatewayException e) {
                refused(e.error());
            }
        }

        void gone() {
            leave.run();
        }

        private DirectReader.Read read() {
            if (read == null) {
                throw new IllegalStateException("answered before it was read");
            }
            return read;
        }

        Advisor.Question question() {
            return read().question();
        }

        Duration life() {
            return read().life();
        }

        String reservation() {
            String chosen = read().reservation();
            return chosen == null ? requestId : chosen;
        }

        @Override
        public void decided(RoutingDecision decision, boolean tokensKnown) {
            HttpServerResponse response = request.response();
            if (response.closed() || response.ended()) {
                unheard();
                return;
            }
            Buffer body = answer(decision, tokensKnown);
            response.setStatusCode(status);
            response.putHeader("content-type", "application/json");
            response.putHeader(RequestIds.HEADER, requestId);
            response.end(body);
        }

        @Override
        public void refused(GatewayError error) {
            ErrorMapper.respond(request.response(), ours(error), requestId);
        }
    }

    /** Pins have other names here than in requests. */
    private static GatewayError ours(GatewayError error) {
        if (error instanceof GatewayError.BadRequest bad) {
            return switch (bad.param()) {
                case "nvext.backend_instance_id" ->
                        new GatewayError.BadRequest("worker_id", bad.message());
                case "nvext.dp_rank" -> new GatewayError.BadRequest("dp_rank", bad.message());
                default -> error;
            };
        }
        return error;
    }
}
