package io.warmpath.gateway.request;

import java.util.OptionalInt;
import java.util.function.Consumer;
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
        return with(d -> d.dpRank = OptionalInt.of(rank));
    }

    public BodyChanges withCacheSalt(@Nullable String salt) {
        return with(d -> d.cacheSalt = salt);
    }

    public BodyChanges withModel(String name) {
        return with(d -> d.model = name);
    }

    public BodyChanges withPriority(int value) {
        return with(d -> d.priority = OptionalInt.of(value));
    }

    public BodyChanges withGreedy() {
        return with(d -> d.greedy = true);
    }

    public BodyChanges withUsage() {
        return with(d -> d.includeUsage = true);
    }

    public BodyChanges withoutNvext() {
        return with(d -> d.dropNvext = true);
    }

    /** A tag, of a session that is no more than that. */
    public BodyChanges withSession(String id) {
        return with(d -> d.sessionId = id);
    }

    public BodyChanges withAppend(SessionAppend news) {
        return with(d -> d.append = news);
    }

    public BodyChanges withHalf(@Nullable Half its) {
        return with(d -> d.half = its);
    }

    /** The same for the engine that only prefills: its rank and its usage are nobody's business. */
    public BodyChanges forPrefill(Half its) {
        return with(
                d -> {
                    d.dpRank = OptionalInt.empty();
                    d.includeUsage = false;
                    d.half = its;
                });
    }

    private BodyChanges with(Consumer<Draft> step) {
        Draft draft = new Draft(this);
        step.accept(draft);
        return draft.done();
    }

    /** Changes that can still be changed. */
    private static final class Draft {
        OptionalInt dpRank;
        @Nullable String cacheSalt;
        @Nullable String model;
        OptionalInt priority;
        boolean greedy;
        boolean includeUsage;
        boolean dropNvext;
        @Nullable String sessionId;
        @Nullable SessionAppend append;
        @Nullable Half half;

        Draft(BodyChanges of) {
            dpRank = of.dpRank;
            cacheSalt = of.cacheSalt;
            model = of.model;
            priority = of.priority;
            greedy = of.greedy;
            includeUsage = of.includeUsage;
            dropNvext = of.dropNvext;
            sessionId = of.sessionId;
            append = of.append;
            half = of.half;
        }

        BodyChanges done() {
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
                    half);
        }
    }
}
