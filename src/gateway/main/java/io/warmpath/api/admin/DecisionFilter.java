package io.warmpath.api.admin;

import io.warmpath.gateway.observe.KeptDecision;
import io.warmpath.gateway.observe.KeptDecision.End;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which decisions are wanted; what is null does not matter. Immutable. {@code worker}: by its name.
 */
record DecisionFilter(
        @Nullable String requestId,
        @Nullable String worker,
        @Nullable String tenant,
        @Nullable String model,
        @Nullable String session,
        @Nullable Outcome outcome) {
    /** Names of its parameters. */
    static final List<String> NAMES =
            List.of("request_id", "worker", "tenant", "model", "session", "outcome");

    /** How it went, as far as is known. */
    enum Outcome {
        /** No worker has done with it yet. */
        RUNNING,
        /** The engine has answered it whole, below 400. */
        OK,
        FAILED;

        private static Outcome of(@Nullable End end) {
            if (end == null) {
                return RUNNING;
            }
            int status = end.ending().status();
            return end.problem().isEmpty() && status > 0 && status < 400 ? OK : FAILED;
        }
    }

    static DecisionFilter of(Query query) {
        return new DecisionFilter(
                query.text("request_id"),
                query.text("worker"),
                query.text("tenant"),
                query.text("model"),
                query.text("session"),
                query.choice("outcome", Outcome.class));
    }

    /** {@code end}: of the decision as it is to be told; null: it has not ended. */
    boolean fits(KeptDecision kept, @Nullable End end) {
        return isOrAny(requestId, kept.requestId())
                && isOrAny(tenant, kept.occasion().tenant())
                && isOrAny(model, kept.model())
                && isOrAny(session, kept.session())
                && isOrAny(worker, kept.decision().chosen().candidate().worker().name())
                && (outcome == null || outcome == Outcome.of(end));
    }

    private static boolean isOrAny(@Nullable String wanted, String is) {
        return wanted == null || wanted.equals(is);
    }
}
