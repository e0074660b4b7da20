package io.warmpath.gateway.pin;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.PinSupport;
import io.warmpath.gateway.pin.PinMetrics.Result;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.PinView;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.session.PinRequest;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One attempt of a request that wants its prompt kept, or meets one that is. On its event loop. */
public final class PinTurn {
    private static final long[] NO_NAMES = {};

    private final Pins pins;
    private final Candidate to;
    private final long[] chain;
    private final PinCalls.@Nullable Wish wish;
    private final @Nullable Integer ownPriority;
    private final boolean priorityInBody;

    /** The engine's session holds the prompt, outside of what can be pinned. */
    private final boolean inSession;

    private PinTurn(
            Pins pins,
            Candidate to,
            long[] chain,
            PinCalls.@Nullable Wish wish,
            @Nullable Integer ownPriority,
            boolean priorityInBody,
            boolean inSession) {
        this.pins = pins;
        this.to = to;
        this.chain = chain;
        this.wish = wish;
        this.ownPriority = ownPriority;
        this.priorityInBody = priorityInBody;
        this.inSession = inSession;
    }

    /**
     * Null for nearly all requests: those that neither want a pin nor meet one.
     *
     * @param inSession the engine's session holds the prompt
     */
    public static @Nullable PinTurn of(
            Pins pins,
            InferenceRequest request,
            AskedPrompt asked,
            RoutingDecision decision,
            boolean inSession) {
        PinRequest wanted = request.passThrough() ? null : request.hints().pin();
        if (wanted != null && !pins.on()) {
            pins.disabled();
            return null;
        }
        Candidate to = decision.chosen().candidate();
        PinView view = decision.request().pins();
        if (wanted == null && (view == null || view.blocks(to) == 0)) {
            return null;
        }
        PromptContent prompt = asked.content(to.worker());
        long[] chain =
                prompt == null ? NO_NAMES : pins.names(request, prompt, to.worker().blockSize());
        if (wanted == null) {
            return new PinTurn(pins, to, chain, null, null, false, false);
        }
        Supplier<int[]> ids = asked.ids(to.worker(), request);
        PinCalls.Wish wish =
                new PinCalls.Wish(
                        to,
                        Pins.scope(request),
                        request.name().on(to.worker().kind()),
                        chain,
                        asked.length(to.worker()),
                        pins.support(to.worker().id()),
                        wanted.ttlSeconds(),
                        ids,
                        request.headers().get("authorization"),
                        request.requestId());
        return new PinTurn(
                pins,
                to,
                chain,
                wish,
                request.hints().enginePriority(),
                request.edits().priority().present(),
                inSession);
    }

    /**
     * What the request itself has to carry so that its blocks are kept: it has to be there before
     * they are made, and a client's own priority is not overruled.
     */
    public OptionalInt priority() {
        return wish != null
                        && !inSession
                        && wish.how() == PinSupport.PRIORITY
                        && ownPriority == null
                        && !priorityInBody
                ? to.worker().priorities().of(pins.options.priority())
                : OptionalInt.empty();
    }

    /** The answer has ended. {@code cachedTokens}: as the engine reported; negative: it did not. */
    public void ended(int status, long cachedTokens) {
        if (status != 200) {
            return;
        }
        if (chain.length > 0) {
            pins.served(to, chain, cachedTokens);
        }
        PinCalls.Wish w = wish;
        if (w == null) {
            return;
        }
        boolean lower = ownPriority == null ? priorityInBody : ownPriority < 1;
        if (inSession) {
            pins.ended(w, Result.REJECTED, "it lies in a streaming session, which keeps it itself");
        } else if (w.how() == PinSupport.PRIORITY && lower) {
            pins.ended(w, Result.REJECTED, "the request has a priority of its own");
        } else {
            pins.want(w);
        }
    }
}
