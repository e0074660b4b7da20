package io.warmpath.gateway.request;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What the engine has to find in a body that the client did not write so.
 *
 * @param dpRank value of {@code routed_dp_rank}, unless the body has a rank already
 * @param cacheSalt value of {@code cache_salt}; null leaves it alone
 * @param model value of {@code model}; null leaves it alone
 * @param priority value of {@code priority}; empty leaves it alone
 * @param greedy value 0 of {@code temperature}, which engines take for the likeliest token
 * @param includeUsage the stream has to report its usage
 * @param dropNvext {@code nvext} was for a gateway and goes no further
 * @param sessionId value of {@code session_id}; null leaves it alone
 * @param append what is new to the engine's session; null: the prompt is sent whole
 * @param half of a request that is split; null: it is sent whole
 */
public record BodyChanges(
        OptionalInt dpRank,
        @Nullable String cacheSalt,
        @Nullable String model,
        OptionalInt priority,
        boolean greedy,
        boolean includeUsage,
        boolean dropNvext,
        @Nullable String sessionId,
        @Nullable SessionAppend append,
        @Nullable Half half) {
    public static final BodyChanges NONE =
            new BodyChanges(
                    OptionalInt.empty(),
                    null,
                    null,
                    OptionalInt.empty(),
                    false,
                    false,
                    false,
                    null,
                    null,
                    null);

    public BodyChanges withDpRank(int rank) {
        return new BodyChanges(
                OptionalInt.of(rank),
                cacheSalt,
                model,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                half);
    }

    public BodyChanges withCacheSalt(@Nullable String salt) {
        return new BodyChanges(
                dpRank,
                salt,
                model,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                half);
    }

    public BodyChanges withModel(String name) {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                name,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                half);
    }

    public BodyChanges withPriority(int value) {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                OptionalInt.of(value),
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                half);
    }

    public BodyChanges withGreedy() {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                priority,
                true,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                half);
    }

    public BodyChanges withUsage() {
        return new BodyChanges(
                dpRank, cacheSalt, model, priority, greedy, true, dropNvext, sessionId, append,
                half);
    }

    public BodyChanges withoutNvext() {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                priority,
                greedy,
                includeUsage,
                true,
                sessionId,
                append,
                half);
    }

    /** A tag, of a session that is no more than that. */
    public BodyChanges withSession(String id) {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                id,
                append,
                half);
    }

    public BodyChanges withAppend(SessionAppend news) {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                news,
                half);
    }

    public BodyChanges withHalf(@Nullable Half its) {
        return new BodyChanges(
                dpRank,
                cacheSalt,
                model,
                priority,
                greedy,
                includeUsage,
                dropNvext,
                sessionId,
                append,
                its);
    }

    /** The same for the engine that only prefills: its rank and its usage are nobody's business. */
    public BodyChanges forPrefill(Half its) {
        return new BodyChanges(
                OptionalInt.empty(),
                cacheSalt,
                model,
                priority,
                greedy,
                false,
                dropNvext,
                sessionId,
                append,
                its);
    }
}
