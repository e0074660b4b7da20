package io.warmpath.gateway.flow;

import io.warmpath.fleet.EngineKind;
import io.warmpath.gateway.migration.ContinuationPoint;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.Continuation;
import io.warmpath.tokens.template.PromptInput;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which engines can continue a stream exactly where its text ends. Rendering a chat takes
 * milliseconds and runs on the tokenising threads; all else on the request's event loop.
 */
final class ContinuationFinder {
    private static final Logger LOG = Logger.getLogger(ContinuationFinder.class);
    private static final PromptInput NO_CHAT = new PromptInput.Opaque("no template is asked");

    private final RequestScope scope;
    private final Consumer<Runnable> later;
    private final boolean chat;
    private final PromptInput asked;
    private @Nullable ContinuationPoint last;
    private int lastPieces;
    private boolean looking;

    /**
     * @param chat the client reads a chat, not a completion
     * @param later runs a step on the request's event loop
     */
    ContinuationFinder(RequestScope scope, boolean chat, Consumer<Runnable> later) {
        this.scope = scope;
        this.later = later;
        this.chat = chat;
        this.asked = chat && mayBeOnVllm(scope) ? scope.request().prompt() : NO_CHAT;
    }

    private static boolean mayBeOnVllm(RequestScope scope) {
        return Engines.of(scope.parts.planning().fleet().snapshot(), scope.request().model())
                != EngineProfile.SGLANG;
    }

    /** It keeps a chat's texts, which have been read already. */
    boolean keepsTexts() {
        return asked instanceof PromptInput.Chat;
    }

    /** Before a template was asked. */
    ContinuationPoint unproven(String text) {
        return new ContinuationPoint(chat, text, Continuation.UNKNOWN);
    }

    /**
     * What {@link #look} has found; null: nothing yet, or of an earlier text.
     *
     * @param pieces of the text
     */
    @Nullable ContinuationPoint known(int pieces) {
        return last != null && lastPieces == pieces ? last : null;
    }

    /** Asks the template. Any thread but an event loop. */
    ContinuationPoint find(String text) {
        ContinuationPoint unproven = unproven(text);
        String model = scope.request().model();
        if (!unproven.asksTemplate()
                || scope.parts
                        .moving()
                        .selfCheck()
                        .distrusted(model, asked)
                        .contains(EngineKind.VLLM)) {
            return unproven;
        }
        try {
            return new ContinuationPoint(
                    chat,
                    text,
                    scope.parts
                            .moving()
                            .tokens()
                            .continuation(model, asked, text, EngineProfile.VLLM));
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: its template cannot be asked", scope.request().requestId());
            return unproven;
        }
    }

    /**
     * Has the template asked; {@code then} gets the answer on the event loop. Nothing while one is
     * waited for, or where too much else is to be done.
     */
    void look(String text, int pieces, Consumer<ContinuationPoint> then) {
        if (looking) {
            return;
        }
        try {
            looking = true;
            scope.parts
                    .moving()
                    .lanes()
                    .lengthy(
                            () -> {
                                ContinuationPoint found = find(text);
                                later.accept(
                                        () -> {
                                            looking = false;
                                            last = found;
                                            lastPieces = pieces;
                                            then.accept(found);
                                        });
                            });
        } catch (RejectedExecutionException e) {
            looking = false; // the next caller asks again
        }
    }
}
