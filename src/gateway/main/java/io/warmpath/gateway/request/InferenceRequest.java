package io.warmpath.gateway.request;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.access.Visit;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.Part;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.TaintRules;
import io.warmpath.tokens.template.PromptInput;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One validated request: what the decision needs, and the bytes that are sent on.
 *
 * @param prompt what will become tokens
 * @param routing how the worker shall be chosen for this request
 * @param hints about urgency and size
 * @param edits where fields can be added to the body
 * @param form of the answer
 */
public record InferenceRequest(
        Received received,
        ModelName name,
        PromptInput prompt,
        CacheSalt salt,
        Routing routing,
        RequestHints hints,
        BodyEdits edits,
        Form form) {
    /** More at once, as one client may ask for, are booked as these. */
    private static final int MOST_DECODES = 128;

    private static final PromptInput NO_PROMPT = new PromptInput.Opaque("answered already");

    /**
     * What the client has sent.
     *
     * @param requestId the client's or a new one; goes to the log, the engine and the answer
     * @param target path and query as the client sent them
     * @param body the client's bytes; never changed in place
     */
    public record Received(String requestId, String target, MultiMap headers, Buffer body) {}

    /**
     * What separates the caches of equal prompts.
     *
     * @param value empty when there is none
     * @param toSend value that the engine has to find in {@code cache_salt} because a header or
     *     {@code nvext} gave it; null when the body says it already
     */
    public record CacheSalt(String value, @Nullable String toSend) {
        public static final CacheSalt NONE = new CacheSalt("", null);
    }

    /**
     * @param pinnedWorker the client names the worker, u64
     * @param pinnedRank the client names the dp rank
     * @param taints what the client makes of workers' taints
     * @param prefiller who computes the prompt for the one that answers
     * @param workers ids of those that can be reached; empty: all
     */
    public record Routing(
            OptionalLong pinnedWorker,
            OptionalInt pinnedRank,
            TaintRules taints,
            RouterOverrides overrides,
            Prefiller prefiller,
            Set<Long> workers) {
        /** The client leaves the choice to the router. */
        public static final Routing FREE =
                new Routing(
                        OptionalLong.empty(),
                        OptionalInt.empty(),
                        TaintRules.NONE,
                        RouterOverrides.NONE,
                        Prefiller.ANY);

        /** Every worker can be reached. */
        public Routing(
                OptionalLong pinnedWorker,
                OptionalInt pinnedRank,
                TaintRules taints,
                RouterOverrides overrides,
                Prefiller prefiller) {
            this(pinnedWorker, pinnedRank, taints, overrides, prefiller, Set.of());
        }

        public Routing {
            workers = Set.copyOf(workers);
        }

        public boolean reaches(long worker) {
            return workers.isEmpty() || workers.contains(worker);
        }
    }

    /**
     * @param stream the client wants an event stream
     * @param explain the client asked for the decision's reasons
     * @param passThrough of an API whose answer is not looked into, and mostly its prompt neither:
     *     embeddings, images, responses and the like
     * @param part what an engine has to do: {@link Part#PREFILL} where there is nothing to decode
     * @param prompts of it that were read; 1: it has one, or none that was
     * @param answers to each prompt ({@code n}), at least 1
     * @param notExact why it cannot be predicted what of it is cached; null: it can, as far as this
     *     request itself goes
     * @param mostTokens an answer may have ({@code max_tokens}); 0 when not said
     */
    public record Form(
            boolean stream,
            boolean explain,
            boolean passThrough,
            Part part,
            int prompts,
            int answers,
            @Nullable NotExact notExact,
            int mostTokens) {
        /** One answer in one piece. */
        public static final Form WHOLE = new Form(false, false, false, Part.WHOLE, 1, 1, null, 0);

        /** What two workers cannot do between them. */
        public boolean isUndivided() {
            return answers > 1 || notExact == NotExact.PROMPT_LOGPROBS;
        }

        /** More than one prompt, read or not. */
        public boolean isSeveral() {
            return prompts > 1 || notExact == NotExact.SEVERAL_PROMPTS;
        }

        /** Answers that a worker has at the same time; 0: it decodes nothing. */
        public int decodes() {
            long all = (long) prompts * answers;
            return part == Part.PREFILL ? 0 : (int) Math.min(all, MOST_DECODES);
        }
    }

    public String requestId() {
        return received.requestId;
    }

    public String target() {
        return received.target;
    }

    public MultiMap headers() {
        return received.headers;
    }

    public Buffer body() {
        return received.body;
    }

    public boolean stream() {
        return form.stream;
    }

    public boolean passThrough() {
        return form.passThrough;
    }

    /** The model as workers list it. */
    public String model() {
        return name.served();
    }

    /** Which blocks of caches are this request's. */
    public PrefixSpace space() {
        String lora = name.lora();
        return lora.isEmpty() && salt.value.isEmpty()
                ? PrefixSpace.NONE
                : new PrefixSpace(lora, salt.value);
    }

    /** Its session, so that the turns of one stay with one model; itself where it has none. */
    private String whose() {
        if (hints.session() != null) {
            return hints.session().id();
        }
        String session = SessionHeaders.id(this);
        return session.isEmpty() ? requestId() : session;
    }

    /** The same with what its model's name stands for; to be done once. */
    public InferenceRequest named(ModelNames names) {
        ModelName known = names.of(name.asked(), this::whose);
        if (known.equals(name)) {
            return this;
        }
        String own = known.salt(salt.value);
        boolean salted = !known.namespace().isEmpty() && !passThrough();
        return new InferenceRequest(
                received,
                known,
                prompt,
                salted ? new CacheSalt(own, own) : salt,
                routing,
                hints,
                edits,
                form);
    }

    /**
     * The same as a request of this client: within its tenant's caches, in its class. Before {@link
     * #named}, and once. {@code visit}: null: the client is not known.
     */
    public InferenceRequest of(@Nullable Visit visit) {
        if (visit == null) {
            return this;
        }
        String own = visit.salt(salt.value);
        String policyClass = visit.caller().grant().policyClass();
        boolean salted = !own.equals(salt.value);
        if (!salted && policyClass.isEmpty()) {
            return this;
        }
        // Of what is passed on, only the responses API has such a member.
        boolean sends = !passThrough() || target().startsWith("/v1/responses");
        return new InferenceRequest(
                received,
                name,
                prompt,
                new CacheSalt(own, salted && sends ? own : salt.toSend),
                routing,
                policyClass.isEmpty() ? hints : hints.in(policyClass),
                edits,
                form);
    }

    /** The same where only these can be reached. {@code ids}: empty: all. */
    public InferenceRequest within(Set<Long> ids) {
        return ids.isEmpty()
                ? this
                : new InferenceRequest(
                        received,
                        name,
                        prompt,
                        salt,
                        new Routing(
                                routing.pinnedWorker,
                                routing.pinnedRank,
                                routing.taints,
                                routing.overrides,
                                routing.prefiller,
                                ids),
                        hints,
                        edits,
                        form);
    }

    /** The same for a worker that the client does not name: what it pins is who answers. */
    public InferenceRequest unpinned() {
        return routing.pinnedWorker.isEmpty() && routing.pinnedRank.isEmpty()
                ? this
                : new InferenceRequest(
                        received,
                        name,
                        prompt,
                        salt,
                        new Routing(
                                OptionalLong.empty(),
                                OptionalInt.empty(),
                                routing.taints,
                                routing.overrides,
                                routing.prefiller,
                                routing.workers),
                        hints,
                        edits,
                        form);
    }

    /** The same without what is only needed until an answer has begun to reach the client. */
    public InferenceRequest answered() {
        return without(Buffer.buffer(0));
    }

    /** The same without its prompt, but with its body: it may have to be asked again. */
    public InferenceRequest begun() {
        return without(body());
    }

    private InferenceRequest without(Buffer left) {
        return new InferenceRequest(
                new Received(requestId(), target(), headers(), left),
                name,
                NO_PROMPT,
                salt,
                routing,
                hints,
                edits,
                form);
    }
}
