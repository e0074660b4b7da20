package io.warmpath.gateway.pin;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.PinSupport;
import io.warmpath.gateway.pin.PinMetrics.Result;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.routing.PinView;
import io.warmpath.session.SessionKey;
import io.warmpath.session.pin.PinFile;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinOffer;
import io.warmpath.session.pin.PinRefusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prompts that clients want to have kept in cache: what they ask for goes to the worker once the
 * answer has ended, and routing learns which worker keeps what. Any thread, and nothing here waits:
 * a pin never delays or fails the user's answer.
 */
public final class Pins {
    private static final Logger LOG = Logger.getLogger(Pins.class);

    /**
     * @param on false: what clients ask for is counted only
     * @param path that pins are posted to
     * @param timeout of one such question
     * @param retries after the first one
     * @param queueSize pins that may wait for one worker
     * @param weight see {@link PinView}
     * @param priority of requests that are kept by it
     */
    public record Options(
            boolean on,
            String path,
            Duration timeout,
            int retries,
            int queueSize,
            double weight,
            int priority) {
        public static final Options OFF = new Options(false, "", Duration.ZERO, 0, 1, 0, 1);
    }

    final Options options;
    final PinLedger ledger;
    final PinMetrics metrics;
    private final PinRefusals refusals;
    private final LongFunction<PinSupport> supports;
    private final LongSupplier millis;
    private final @Nullable PinCalls calls;
    private final AtomicBoolean saidOff = new AtomicBoolean();
    private final Set<Long> saidUnsupported = ConcurrentHashMap.newKeySet();

    /**
     * @param supports how a worker can be made to keep a prefix, by its id
     * @param millis since 1970
     * @param calls asks them; null when pins are off
     */
    public Pins(
            Options options,
            PinLedger ledger,
            PinRefusals refusals,
            PinMetrics metrics,
            LongFunction<PinSupport> supports,
            LongSupplier millis,
            @Nullable PinCalls calls) {
        this.options = options;
        this.ledger = ledger;
        this.refusals = refusals;
        this.metrics = metrics;
        this.supports = supports;
        this.millis = millis;
        this.calls = calls;
    }

    /** Counts what clients ask for, and does nothing. */
    public static Pins off(PinMetrics metrics) {
        return new Pins(
                Options.OFF,
                new PinLedger(
                        new PinLedger.Options(1, 1, 1, 1),
                        new PinFile.Content(0, List.of()),
                        () -> 0),
                new PinRefusals(),
                metrics,
                worker -> PinSupport.NONE,
                () -> 0,
                null);
    }

    boolean on() {
        return options.on();
    }

    PinSupport support(long worker) {
        return supports.apply(worker);
    }

    static SessionKey.Scope scope(InferenceRequest request) {
        return new SessionKey.Scope(request.model(), request.salt().value());
    }

    /** Which workers keep a beginning of this prompt; null when none does. */
    public @Nullable PinView view(
            InferenceRequest request, List<Candidate> candidates, @Nullable EnginePrompts tokens) {
        if (ledger.size() == 0 || tokens == null || !ledger.any(scope(request))) {
            return null;
        }
        List<PinView.Held> held = new ArrayList<>(1);
        List<PromptContent> asked = new ArrayList<>(1);
        List<Integer> sizes = new ArrayList<>(1);
        for (Candidate c : candidates) {
            PromptContent prompt = tokens.of(c.worker().kind());
            int blockSize = c.worker().blockSize();
            if (seen(asked, sizes, prompt, blockSize)) {
                continue;
            }
            asked.add(prompt);
            sizes.add(blockSize);
            for (PinLedger.Holder h :
                    ledger.holders(blockSize, names(request, prompt, blockSize))) {
                held.add(new PinView.Held(h.worker(), h.dpRank(), blockSize, h.blocks()));
            }
        }
        return held.isEmpty() ? null : new PinView(options.weight(), held);
    }

    @SuppressWarnings("ReferenceEquality") // one content for all kinds, mostly
    private static boolean seen(
            List<PromptContent> asked, List<Integer> sizes, PromptContent prompt, int blockSize) {
        for (int i = 0; i < asked.size(); i++) {
            if (asked.get(i) == prompt && sizes.get(i) == blockSize) {
                return true;
            }
        }
        return false;
    }

    /** Names of the prompt's complete blocks; none where they are not known. */
    long[] names(InferenceRequest request, PromptContent prompt, int blockSize) {
        return prompt.names(blockSize, ledger.seed(scope(request), request.name().lora()));
    }

    /** The client wants a pin, and there are none. */
    void disabled() {
        metrics.ended(Result.DISABLED);
        if (saidOff.compareAndSet(false, true)) {
            LOG.info(
                    "A request has nvext.cache_control, which has no effect: start the gateway with"
                            + " --enable-cache-control");
        }
    }

    /** The answer has ended; the prompt is to be kept where it lies. */
    void want(PinCalls.Wish wish) {
        PinCalls to = calls;
        if (to == null) {
            return;
        }
        if (wish.how() == PinSupport.NONE
                || (wish.how() == PinSupport.KEEP_ALIVE && !to.keepsAlive())) {
            unsupported(wish, "the worker has no way to keep a prefix");
            return;
        }
        if (wish.chain().length == 0) {
            ended(wish, Result.UNKNOWN, "its tokens are not known, or make no whole block");
            return;
        }
        PinOffer.Taken taken =
                ledger.offer(
                        new PinOffer(
                                wish.to().worker().id(),
                                wish.to().dpRank(),
                                wish.scope(),
                                wish.model(),
                                wish.chain(),
                                wish.to().worker().blockSize(),
                                wish.tokens(),
                                wish.how(),
                                wish.ttlSeconds()));
        switch (taken) {
            case PinOffer.Taken.Covered c -> {
                metrics.ended(Result.COVERED);
                if (wish.how() == PinSupport.KEEP_ALIVE) {
                    to.keepAgain(wish, c.number());
                }
            }
            case PinOffer.Taken.Refused r -> ended(wish, Result.QUOTA, r.why());
            case PinOffer.Taken.Open o -> {
                if (wish.how() == PinSupport.PRIORITY) {
                    granted(o.number(), 0, ""); // the request itself has done it
                } else {
                    to.ask(this, wish, o.number());
                }
            }
        }
    }

    /** The request was served by the rank; its pins there have been of use, or have not held. */
    void served(Candidate by, long[] chain, long cachedTokens) {
        PinLedger.Served served =
                ledger.served(
                        by.worker().id(),
                        by.dpRank(),
                        by.worker().blockSize(),
                        chain,
                        cachedTokens);
        if (served.lost()) {
            metrics.lost();
        }
    }

    void granted(long pin, int nodes, String said) {
        if (ledger.confirm(pin, nodes, said)) {
            metrics.ended(Result.OK);
        } else {
            metrics.ended(Result.FAILED); // its worker has left meanwhile, or an operator ended it
        }
    }

    /** Nothing is kept. */
    void denied(PinCalls.Wish wish, long pin, Result result, String reason) {
        ledger.drop(pin);
        if (result == Result.UNSUPPORTED) {
            unsupported(wish, reason);
        } else {
            ended(wish, result, reason);
        }
    }

    private void unsupported(PinCalls.Wish wish, String reason) {
        ended(wish, Result.UNSUPPORTED, reason);
        if (saidUnsupported.add(wish.to().worker().id())) {
            LOG.infof(
                    "Worker %s cannot keep what clients pin (nvext.cache_control): %s",
                    wish.to().worker().name(), reason);
        }
    }

    void ended(PinCalls.Wish wish, Result result, String reason) {
        metrics.ended(result);
        refusals.add(
                new PinRefusals.Refusal(
                        millis.getAsLong(),
                        wish.to().worker().id(),
                        wish.scope().model(),
                        wish.tokens(),
                        PinMetrics.word(result),
                        reason));
        LOG.debugf("%s: not pinned on %s: %s", wish.requestId(), wish.to().label(), reason);
    }
}
