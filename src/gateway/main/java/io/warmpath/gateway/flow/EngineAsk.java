package io.warmpath.gateway.flow;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.pin.PinTurn;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.Half;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.LearntMedia;
import io.warmpath.tokens.template.PromptInput;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How one worker is asked for what a client has asked for.
 *
 * @param model the name it serves the model under
 * @param changes to the client's body
 * @param priority as this engine counts it; empty: none
 * @param rankInHeader its data parallel rank is named in a header, not in the body
 * @param cutsUsage usage is asked for that the client does not get to see
 * @param tag that its KV events will carry; empty: none of ours
 */
record EngineAsk(
        String model,
        BodyChanges changes,
        OptionalInt priority,
        boolean rankInHeader,
        boolean cutsUsage,
        String tag) {
    /** Before anybody was asked. */
    static final EngineAsk NOTHING =
            new EngineAsk("", BodyChanges.NONE, OptionalInt.empty(), false, false, "");

    /**
     * @param pin what is to be kept of the prompt; null: nothing
     * @param half of a request that is split; null: it is sent as whole ones are
     */
    static EngineAsk of(
            RequestScope scope, Candidate to, @Nullable PinTurn pin, @Nullable Half half) {
        GatewayOptions options = scope.parts.options();
        InferenceRequest request = scope.request();
        BodyChanges changes = BodyChanges.NONE.withHalf(half);
        if (request.salt().toSend() != null) {
            changes = changes.withCacheSalt(request.salt().toSend());
        }
        String model = request.name().on(to.worker().kind());
        if (!model.equals(request.name().asked())) {
            changes = changes.withModel(model);
        }
        if (!options.forwardNvext() && !request.edits().nvext().isEmpty()) {
            changes = changes.withoutNvext();
        }
        OptionalInt priority = priority(request, to);
        if (priority.isPresent()) {
            changes = changes.withPriority(priority.getAsInt());
        }
        if (request.hints().greedy() && !request.passThrough()) {
            changes = changes.withGreedy();
        }
        OptionalInt keeps = pin == null ? OptionalInt.empty() : pin.priority();
        if (keeps.isPresent()) {
            changes = changes.withPriority(keeps.getAsInt());
        }
        boolean ranks = to.worker().ranks().size() > 1;
        boolean rankInBody =
                ranks && to.worker().kind() == EngineKind.SGLANG && !request.passThrough();
        if (rankInBody) {
            changes = changes.withDpRank(to.dpRank());
        }
        SessionTurn session = scope.session();
        if (session != null) {
            changes = session.changes(changes);
        }
        String tag = half == null ? tag(scope, to) : "";
        if (!tag.isEmpty()) {
            changes = changes.withSession(tag);
        }
        boolean usage = asksForUsage(scope, to);
        if (usage) {
            changes = changes.withUsage();
        }
        return new EngineAsk(model, changes, priority, ranks && !rankInBody, usage, tag);
    }

    /**
     * SGLang passes the name of a session on to its events, whether it keeps such sessions or not.
     * By these the ids are learnt that it has for media.
     */
    private static String tag(RequestScope scope, Candidate to) {
        if (!scope.form.isAsSent()
                || to.worker().kind() != EngineKind.SGLANG
                || to.worker().sessions() != SessionSupport.STICKY
                || !(scope.request().prompt() instanceof PromptInput.Conversation chat)) {
            return "";
        }
        LearntMedia.Lesson media = chat.extent().lesson(EngineProfile.SGLANG);
        return media != null && media.hasContent()
                ? "media-" + Long.toHexString(scope.parts.sending().random().getAsLong())
                : "";
    }

    private static OptionalInt priority(InferenceRequest request, Candidate to) {
        Integer priority = request.hints().enginePriority();
        return priority == null || request.passThrough()
                ? OptionalInt.empty()
                : to.worker().priorities().of(priority);
    }

    /** We want to know what was cached; the client, who has not asked, does not get to see it. */
    private static boolean asksForUsage(RequestScope scope, Candidate to) {
        InferenceRequest request = scope.request();
        return scope.form.isAsSent() // others ask for what they need themselves
                && scope.parts.options().requestUsage()
                && request.stream()
                && to.worker().kind() != EngineKind.OPENAI
                && !request.edits().asksForUsage(request.body());
    }
}
