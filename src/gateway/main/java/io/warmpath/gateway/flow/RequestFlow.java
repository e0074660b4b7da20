package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.TimedAnswer;
import io.warmpath.gateway.plan.Advisor;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.BodyPace;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.request.Sender;
import io.warmpath.gateway.request.Visits;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The use case: prompt to tokens, wait for room, match, decide, book, send, pass on, close the
 * books. Shared by all event loops; each request stays on its own. Nothing here blocks.
 */
public final class RequestFlow {
    private final FlowParts parts;
    private final TimedAnswer.Times times;
    private final BodyMemory bodies;
    private final BodyPace bodyPace;
    private final boolean proxied;

    public RequestFlow(FlowParts parts) {
        this.parts = parts;
        ClientBounds clients = parts.options().clients();
        this.times = new TimedAnswer.Times(clients, parts.nanoTime());
        this.bodies = new BodyMemory(clients.bodyMemory());
        this.bodyPace = new BodyPace(clients.bodySpan(), parts.nanoTime());
        this.proxied = false;
        parts.metrics().bodies(bodies);
    }

    private RequestFlow(RequestFlow direct) {
        this.parts = direct.parts.proxied();
        this.times = new TimedAnswer.Times(parts.options().clients(), parts.nanoTime());
        this.bodies = direct.bodies;
        this.bodyPace = direct.bodyPace;
        this.proxied = true;
    }

    /**
     * The same for requests that others send: each is sent by its {@link Sender}, once. Their
     * bodies and this flow's share their memory.
     */
    public RequestFlow proxied() {
        return new RequestFlow(this);
    }

    /**
     * Starts the request; to be called on its event loop, whose context is given. The answer comes
     * on the same loop. Returns what to do when the client leaves; harmless after the answer.
     */
    public Runnable start(Context context, InferenceRequest request, Answer answer) {
        return start(context, request, answer, EngineForm.AS_SENT);
    }

    /**
     * As {@link #start(Context, InferenceRequest, Answer)}, for a request that is not what the
     * engines read.
     */
    public Runnable start(
            Context context, InferenceRequest request, Answer answer, EngineForm form) {
        Visit visit = Visits.of(context);
        InferenceRequest whose = request.of(visit).named(models());
        FlowParts mine = parts;
        if (proxied) {
            Sender sender = Sender.of(context);
            whose = whose.within(sender.workers());
            mine = parts.by(sender);
        }
        Exchange exchange = new Exchange(mine, times, context, whose, answer, form, visit);
        exchange.begin();
        return exchange::clientGone;
    }

    /**
     * The body of a chat with what was said before in its session, where the client does not send
     * that itself. On the request's event loop, where one of the two is called.
     *
     * @param next gets null when the body is right as it is
     * @throws io.warmpath.fault.GatewayException instead of {@code refused}
     */
    public void complete(
            Context context,
            InferenceRequest request,
            Consumer<@Nullable Buffer> next,
            Consumer<GatewayError> refused) {
        parts.sessions().complete(context, request.named(models()), next, refused);
    }

    /** Whether decisions need the prompts of requests, those apart that want them explained. */
    public boolean looksAtPrompts() {
        return parts.planning().tokens().looksAtPrompts();
    }

    /** How fast bodies have to come. */
    public BodyPace bodyPace() {
        return bodyPace;
    }

    /** What the bodies of all requests take. */
    public BodyMemory bodies() {
        return bodies;
    }

    /** What the names of models in requests stand for. */
    public ModelNames models() {
        return parts.planning().models();
    }

    /** What the names of objectives in requests stand for. */
    public Objectives objectives() {
        return parts.planning().objectives();
    }

    /** Answers questions about prompts and books for those who send them themselves. */
    public Advisor advisor() {
        return new Advisor(parts.planning(), parts.sending().load());
    }
}
