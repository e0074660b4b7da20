package io.warmpath.adapter.jwt;

import io.warmpath.access.Authenticator;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.Verdict;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jspecify.annotations.Nullable;

/**
 * Clients by signed tokens. Any thread; a token that was verified lately is known at once, another
 * one is looked at by a thread of the executor, as its signature costs some 0.1 ms.
 */
public final class JwtClients implements Authenticator {
    /** Nobody's token is longer; headers of more than 8 KiB do not come through anyway. */
    private static final int MAX_LENGTH = 8 << 10;

    /** Tokens that are looked at together. */
    private static final int AT_ONCE = 256;

    private static final int CACHED = 10_000;

    private static final Verdict BUSY = new Verdict.Busy("Too many new tokens wait to be verified");
    private static final Verdict TOO_LONG = new Verdict.Refused("The token is too long.");

    /** Seconds since 1970 of the latest end that is told apart from none. */
    private static final long LATEST = 1L << 40;

    /**
     * @param until nanoseconds; a clock that is set back leaves nobody known for longer
     * @param ends when the token does
     */
    private record Known(Caller caller, long until, Instant ends) {}

    private final JwtOptions options;
    private final IssuerKeys keys;
    private final Budgets budgets;
    private final Executor threads;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final Semaphore running = new Semaphore(AT_ONCE);

    private final Map<KeyHash, Known> known = // guarded by itself
            new LinkedHashMap<>(64, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<KeyHash, Known> eldest) {
                    return size() > CACHED;
                }
            };

    /** {@code threads}: may block; virtual ones. */
    public JwtClients(
            JwtOptions options,
            IssuerKeys keys,
            Budgets budgets,
            Executor threads,
            InstantSource clock,
            LongSupplier nanoTime) {
        this.options = options;
        this.keys = keys;
        this.budgets = budgets;
        this.threads = threads;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /** Whether it has the form of a token; a key has not. */
    public static boolean isToken(String credential) {
        return credential.startsWith("eyJ") && credential.indexOf('.') > 0;
    }

    @Override
    public Verdict check(String token) {
        if (token.length() > MAX_LENGTH) {
            return TOO_LONG;
        }
        KeyHash hash = KeyHash.of(token);
        synchronized (known) {
            Known before = known.get(hash);
            if (before != null) {
                if (nanoTime.getAsLong() - before.until() < 0
                        && clock.instant().isBefore(before.ends())) {
                    return before.caller();
                }
                known.remove(hash);
            }
        }
        if (!running.tryAcquire()) {
            return BUSY;
        }
        CompletableFuture<Verdict> verdict = new CompletableFuture<>();
        threads.execute(
                () -> {
                    try {
                        verdict.complete(verify(token, hash));
                    } catch (RuntimeException | LinkageError e) {
                        verdict.completeExceptionally(e);
                    } finally {
                        running.release();
                    }
                });
        return new Verdict.Later(verdict);
    }

    private Verdict verify(String token, KeyHash hash) {
        IssuerKeys.Held held = keys.now();
        try {
            return accepted(consumer(held).processToClaims(token), hash);
        } catch (InvalidJwtException e) {
            if (!isKeyMissing(e) || !keys.missed(held.version())) {
                return refused(e);
            }
        } catch (MalformedClaimException | IllegalArgumentException e) {
            return new Verdict.Refused("A claim of the token cannot be used.");
        }
        try {
            return accepted(consumer(keys.now()).processToClaims(token), hash);
        } catch (InvalidJwtException e) {
            return refused(e);
        } catch (MalformedClaimException | IllegalArgumentException e) {
            return new Verdict.Refused("A claim of the token cannot be used.");
        }
    }

    private JwtConsumer consumer(IssuerKeys.Held held) {
        return new JwtConsumerBuilder()
                .setJwsAlgorithmConstraints(
                        new AlgorithmConstraints(
                                ConstraintType.PERMIT, options.algorithms().toArray(String[]::new)))
                .setVerificationKeyResolver(
                        (token, nesting) ->
                                fitting(held, token.getAlgorithmHeaderValue())
                                        .resolveKey(token, nesting))
                .setRequireExpirationTime()
                .setRequireSubject()
                .setExpectedIssuer(options.issuer())
                .setExpectedAudience(options.audiences().toArray(String[]::new))
                .setAllowedClockSkewInSeconds(Math.toIntExact(options.leeway().toSeconds()))
                .setEvaluationTime(NumericDate.fromMilliseconds(clock.millis()))
                .build();
    }

    /**
     * Looks among the keys for this algorithm: one that names another is not for it (RFC 8725,
     * 3.1). jose4j itself asks only when several keys have the same id.
     */
    private static JwksVerificationKeyResolver fitting(IssuerKeys.Held held, String algorithm) {
        JwksVerificationKeyResolver resolver =
                new JwksVerificationKeyResolver(
                        held.keys().stream()
                                .filter(
                                        k ->
                                                k.getAlgorithm() == null
                                                        || k.getAlgorithm().equals(algorithm))
                                .toList());
        resolver.setDisambiguateWithVerifySignature(true);
        return resolver;
    }

    /** jose4j has a code for it among those of signatures, and says it in words only. */
    private static boolean isKeyMissing(InvalidJwtException e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof org.jose4j.lang.UnresolvableKeyException) {
                return true;
            }
        }
        return false;
    }

    /** In words of ours: jose4j's have the token in them. */
    private static Verdict refused(InvalidJwtException e) {
        String why =
                e.hasErrorCode(ErrorCodes.EXPIRED)
                        ? "The token has expired."
                        : e.hasErrorCode(ErrorCodes.NOT_YET_VALID)
                                ? "The token is not valid yet."
                                : e.hasErrorCode(ErrorCodes.AUDIENCE_INVALID)
                                                || e.hasErrorCode(ErrorCodes.AUDIENCE_MISSING)
                                        ? "The token is for another audience."
                                        : e.hasErrorCode(ErrorCodes.ISSUER_INVALID)
                                                        || e.hasErrorCode(ErrorCodes.ISSUER_MISSING)
                                                ? "The token is of another issuer."
                                                : isKeyMissing(e)
                                                        ? "The token is signed with a key that is"
                                                                + " not known here."
                                                        : "The token is not valid.";
        return new Verdict.Refused(why);
    }

    private Verdict accepted(JwtClaims claims, KeyHash hash) throws MalformedClaimException {
        String tenant = options.tenantClaim() == null ? "" : text(claims, options.tenantClaim());
        if (tenant == null || (tenant.isEmpty() && options.tenantClaim() != null)) {
            return new Verdict.Refused(
                    "The token does not say whose it is: it has no claim `"
                            + options.tenantClaim()
                            + "`.");
        }
        if (claims.getSubject().isBlank()) {
            return new Verdict.Refused("The token has an empty subject.");
        }
        Grant grant =
                new Grant(
                        "jwt:" + claims.getSubject(),
                        tenant,
                        false,
                        models(claims),
                        limit(claims, options.requestsClaim(), options.requestsPerMinute()),
                        limit(claims, options.tokensClaim(), options.tokensPerMinute()),
                        "",
                        weight(claims),
                        false,
                        false,
                        false);
        Caller caller = new Caller(grant, budgets, nanoTime);
        long until = nanoTime.getAsLong() + options.cacheTime().toNanos();
        long end = Math.min(claims.getExpirationTime().getValue(), LATEST); // s
        Instant ends = Instant.ofEpochSecond(end).plus(options.leeway());
        synchronized (known) {
            known.put(hash, new Known(caller, until, ends));
        }
        return caller;
    }

    private static @Nullable String text(JwtClaims claims, @Nullable String name) {
        return name != null && claims.getClaimValue(name) instanceof String s ? s : null;
    }

    private List<String> models(JwtClaims claims) {
        String name = options.modelsClaim();
        if (name == null) {
            return List.of();
        }
        List<String> models =
                switch (claims.getClaimValue(name)) {
                    case String s ->
                            Arrays.stream(s.strip().split("\\s+", -1))
                                    .filter(m -> !m.isEmpty())
                                    .toList();
                    case List<?> list -> list.stream().map(String::valueOf).toList();
                    case null, default -> List.of();
                };
        // An empty list would be all of them.
        if (models.isEmpty()) {
            throw new IllegalArgumentException("no models");
        }
        return models;
    }

    private int weight(JwtClaims claims) {
        return Math.clamp(limit(claims, options.weightClaim(), 1), 1, Grant.MAX_WEIGHT);
    }

    private static long limit(JwtClaims claims, @Nullable String name, long usual) {
        return name != null && claims.getClaimValue(name) instanceof Number n
                ? n.longValue()
                : usual;
    }
}
