package io.warmpath.gateway.request;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.access.Visit;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.TaintRules;
import io.warmpath.tokens.template.PromptInput;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One validated request: what the decision needs, and the bytes that are sent on.
 *
 * @param requestId the client's or a new one; goes to the log, the engine and the answer
 * @param target path and query as the client sent them
 * @param headers the client's headers
 * @param body the client's bytes; never changed in place
 * @param name of the model
 * @param stream the client wants an event stream
 * @param prompt what will become tokens
 * @param cacheSalt separates caches of equal prompts; empty when there is none
 * @param saltToSend value that the engine has to find in {@code cache_salt} because a header or
 *     {@code nvext} gave it; null when the body says it already
 * @param pinnedWorker the client names the worker, u64
 * @param pinnedRank the client names the dp rank
 * @param taints what the client makes of workers' taints
 * @param overrides how the worker shall be chosen for this request
 * @param hints about urgency and size
 * @param edits where fields can be added to the body
 * @param explain the client asked for the decision's reasons
 * @param passThrough of an API whose answer is not looked into, and mostly its prompt neither:
 *     embeddings, images, responses and the like
 * @param several answers are asked for ({@code n}): what an engine reports as cached is then partly
 *     what it has just computed for the first of them
 */
public record InferenceRequest(
        String requestId,
        String target,
        MultiMap headers,
        Buffer body,
        ModelName name,
        boolean stream,
        PromptInput prompt,
        String cacheSalt,
        @Nullable String saltToSend,
        OptionalLong pinnedWorker,
        OptionalInt pinnedRank,
        TaintRules taints,
        RouterOverrides overrides,
        RequestHints hints,
        BodyEdits edits,
        boolean explain,
        boolean passThrough,
        boolean several) {
    /**
     * For one answer.
     *
     * @param model its name, which stands for itself until {@link #named}
     */
    public InferenceRequest(
            String requestId,
            String target,
            MultiMap headers,
            Buffer body,
            String model,
            boolean stream,
            PromptInput prompt,
            String cacheSalt,
            @Nullable String saltToSend,
            OptionalLong pinnedWorker,
            OptionalInt pinnedRank,
            TaintRules taints,
            RouterOverrides overrides,
            RequestHints hints,
            BodyEdits edits,
            boolean explain,
            boolean passThrough) {
        this(
                requestId,
                target,
                headers,
                body,
                ModelName.plain(model),
                stream,
                prompt,
                cacheSalt,
                saltToSend,
                pinnedWorker,
                pinnedRank,
                taints,
                overrides,
                hints,
                edits,
                explain,
                passThrough,
                false);
    }

    /** The model as workers list it. */
    public String model() {
        return name.served();
    }

    /** Which blocks of caches are this request's. */
    public PrefixSpace space() {
        String lora = name.lora();
        return lora.isEmpty() && cacheSalt.isEmpty()
                ? PrefixSpace.NONE
                : new PrefixSpace(lora, cacheSalt);
    }

    /** The same with what its model's name stands for; to be done once. */
    public InferenceRequest named(ModelNames names) {
        ModelName known = names.of(name.asked());
        if (known.equals(name)) {
            return this;
        }
        boolean salted = !known.namespace().isEmpty() && !passThrough;
        String salt = salted ? known.salt(cacheSalt) : cacheSalt;
        return new InferenceRequest(
                requestId,
                target,
                headers,
                body,
                known,
                stream,
                prompt,
                salt,
                salted ? salt : saltToSend,
                pinnedWorker,
                pinnedRank,
                taints,
                overrides,
                hints,
                edits,
                explain,
                passThrough,
                several);
    }

    /**
     * The same as a request of this client: within its tenant's caches, in its class. Before {@link
     * #named}, and once.
     *
     * @param visit null: nobody in particular
     */
    public InferenceRequest of(@Nullable Visit visit) {
        if (visit == null) {
            return this;
        }
        String salt = visit.salt(cacheSalt);
        String policyClass = visit.caller().grant().policyClass();
        boolean salted = !salt.equals(cacheSalt);
        if (!salted && policyClass.isEmpty()) {
            return this;
        }
        // Of what is passed on, only the responses API has such a member.
        boolean sends = !passThrough || target.startsWith("/v1/responses");
        return new InferenceRequest(
                requestId,
                target,
                headers,
                body,
                name,
                stream,
                prompt,
                salt,
                salted && sends ? salt : saltToSend,
                pinnedWorker,
                pinnedRank,
                taints,
                overrides,
                policyClass.isEmpty() ? hints : hints.in(policyClass),
                edits,
                explain,
                passThrough,
                several);
    }

    /** The same without what is only needed until an answer has begun to reach the client. */
    public InferenceRequest answered() {
        return without(Buffer.buffer(0));
    }

    /** The same without its prompt, but with its body: it may have to be asked again. */
    public InferenceRequest begun() {
        return without(body);
    }

    private InferenceRequest without(Buffer left) {
        return new InferenceRequest(
                requestId,
                target,
                headers,
                left,
                name,
                stream,
                NO_PROMPT,
                cacheSalt,
                saltToSend,
                pinnedWorker,
                pinnedRank,
                taints,
                overrides,
                hints,
                edits,
                explain,
                passThrough,
                several);
    }

    private static final PromptInput NO_PROMPT = new PromptInput.Opaque("answered already");
}
