package io.warmpath.adapter.jwt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.Verdict;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.OctJwkGenerator;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tokens as issuers make them, and as those make them who would like to be one. */
class JwtClientsTest {
    private static final Instant START = Instant.parse("2026-11-01T12:00:00Z");

    private static PublicJsonWebKey rsa;
    private static PublicJsonWebKey ec;
    private static PublicJsonWebKey next;

    private final AtomicLong seconds = new AtomicLong();
    private final AtomicLong jumped = new AtomicLong(); // by the clock, in seconds
    private final AtomicInteger asked = new AtomicInteger();
    private List<JsonWebKey> published = List.of(rsa, ec);
    private boolean dead;
    private final IssuerKeys keys =
            new IssuerKeys(
                    () -> {
                        asked.incrementAndGet();
                        if (dead) {
                            throw new IOException("nobody is there");
                        }
                        return new JsonWebKeySet(published).toJson();
                    },
                    "the test",
                    Duration.ofMinutes(10),
                    () -> TimeUnit.SECONDS.toNanos(seconds.get()));
    private final JwtClients clients = clients(options("org", "models"), Runnable::run);

    @BeforeAll
    static void keys() throws Exception {
        rsa = key(RsaJwkGenerator.generateJwk(2048), "rsa");
        ec = key(EcJwkGenerator.generateJwk(EllipticCurves.P256), "ec");
        next = key(EcJwkGenerator.generateJwk(EllipticCurves.P256), "next");
    }

    private static PublicJsonWebKey key(PublicJsonWebKey key, String id) {
        key.setKeyId(id);
        return key;
    }

    private static JwtOptions options(String tenant, String models) {
        return new JwtOptions(
                "https://issuer",
                List.of("warmpath"),
                List.of("RS256", "ES256"),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                tenant,
                models,
                "rpm",
                null,
                "weight",
                7,
                9);
    }

    private JwtClients clients(JwtOptions options, Executor threads) {
        return new JwtClients(
                options,
                keys,
                new Budgets(10),
                threads,
                () -> START.plusSeconds(seconds.get() + jumped.get()),
                () -> TimeUnit.SECONDS.toNanos(seconds.get()));
    }

    private interface Change {
        void to(JwtClaims claims) throws Exception;
    }

    private static JwtClaims claims(Change change) throws Exception {
        JwtClaims claims = new JwtClaims();
        claims.setSubject("ada");
        claims.setIssuer("https://issuer");
        claims.setAudience("warmpath", "other");
        claims.setExpirationTime(NumericDate.fromSeconds(START.getEpochSecond() + 300));
        claims.setStringClaim("org", "acme");
        claims.setStringListClaim("models", "m", "x-*");
        change.to(claims);
        return claims;
    }

    private static String sign(JwtClaims claims, PublicJsonWebKey key) throws JoseException {
        JsonWebSignature s = new JsonWebSignature();
        s.setPayload(claims.toJson());
        s.setKey(key.getPrivateKey());
        s.setKeyIdHeaderValue(key.getKeyId());
        s.setAlgorithmHeaderValue(
                key.getKeyType().equals("RSA")
                        ? AlgorithmIdentifiers.RSA_USING_SHA256
                        : AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256);
        return s.getCompactSerialization();
    }

    private static String token(Change change) throws Exception {
        return sign(claims(change), rsa);
    }

    private static Verdict verdict(JwtClients clients, String token) {
        Verdict first = clients.check(token);
        return first instanceof Verdict.Later later
                ? later.verdict().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join()
                : first;
    }

    private Verdict verdict(String token) {
        return verdict(clients, token);
    }

    private void refused(String word, String token) {
        Verdict.Refused no = assertInstanceOf(Verdict.Refused.class, verdict(token));
        assertTrue(no.why().contains(word), no.why());
        assertFalse(no.why().contains(token), no.why());
    }

    @Test
    void a_good_token_says_who_what_and_how_much() throws Exception {
        for (PublicJsonWebKey key : List.of(rsa, ec)) {
            String token = sign(claims(c -> c.setClaim("rpm", 3)), key);
            Grant grant = assertInstanceOf(Caller.class, verdict(token)).grant();
            assertEquals(
                    new Grant(
                            "jwt:ada",
                            "acme",
                            false,
                            List.of("m", "x-*"),
                            3,
                            9,
                            "",
                            1,
                            false,
                            false,
                            false),
                    grant);
        }
        Caller scoped =
                assertInstanceOf(
                        Caller.class, verdict(token(c -> c.setStringClaim("models", " m  n "))));
        assertEquals(List.of("m", "n"), scoped.grant().models());
        assertEquals(7, scoped.grant().requestsPerMinute());
        for (int[] said : new int[][] {{5, 5}, {0, 1}, {1_000_000, 1_000}}) {
            Caller weighed =
                    assertInstanceOf(
                            Caller.class,
                            verdict(
                                    token(
                                            c -> {
                                                c.setStringClaim("models", "m");
                                                c.setClaim("weight", said[0]);
                                            })));
            assertEquals(said[1], weighed.grant().weight());
        }
    }

    @Test
    void times_audience_issuer_and_subject_are_checked() throws Exception {
        long now = START.getEpochSecond();
        refused("expired", token(c -> c.setExpirationTime(NumericDate.fromSeconds(now - 31))));
        refused("not valid yet", token(c -> c.setNotBefore(NumericDate.fromSeconds(now + 40))));
        refused("audience", token(c -> c.setAudience("somebody")));
        refused("audience", token(c -> c.unsetClaim("aud")));
        refused("issuer", token(c -> c.setIssuer("https://other")));
        refused("issuer", token(c -> c.unsetClaim("iss")));
        refused("not valid", token(c -> c.unsetClaim("exp")));
        refused("not valid", token(c -> c.unsetClaim("sub")));
        refused("claim", token(c -> c.unsetClaim("org")));
        refused("claim", token(c -> c.setStringClaim("org", "a:b")));
        refused("claim", token(c -> c.unsetClaim("models")));
        refused("claim", token(c -> c.setStringListClaim("models", List.of())));
        Change inLeeway = c -> c.setExpirationTime(NumericDate.fromSeconds(now - 20));
        assertInstanceOf(Caller.class, verdict(token(inLeeway)));
    }

    @Test
    void an_end_beyond_all_clocks_is_an_end_and_an_empty_subject_is_none() throws Exception {
        assertInstanceOf(Caller.class, verdict(token(c -> c.setClaim("exp", 1e300))));
        refused("subject", token(c -> c.setSubject(" ")));
    }

    @Test
    void no_signature_that_anybody_could_make_is_accepted() throws Exception {
        String good = token(c -> {});
        String[] parts = good.split("\\.", -1);
        Base64.Encoder b64 = Base64.getUrlEncoder().withoutPadding();
        String none = b64.encodeToString("{\"alg\":\"none\"}".getBytes(StandardCharsets.UTF_8));
        refused("not", none + "." + parts[1] + ".");
        refused("not", none + "." + parts[1] + "." + parts[2]);
        refused("not valid", parts[0] + "." + parts[1] + ".");
        String other =
                b64.encodeToString(
                        claims(c -> c.setStringClaim("org", "x"))
                                .toJson()
                                .getBytes(StandardCharsets.UTF_8));
        refused("not valid", parts[0] + "." + other + "." + parts[2]);
        // The public key as a secret, which everybody has.
        for (byte[] secret :
                List.of(
                        rsa.getPublicKey().getEncoded(),
                        rsa.toJson().getBytes(StandardCharsets.UTF_8))) {
            JsonWebSignature hmac = new JsonWebSignature();
            hmac.setPayload(claims(c -> {}).toJson());
            hmac.setAlgorithmHeaderValue(AlgorithmIdentifiers.HMAC_SHA256);
            hmac.setKeyIdHeaderValue("rsa");
            hmac.setKey(new HmacKey(secret));
            refused("", hmac.getCompactSerialization()); // of whichever reason
        }
        // A key that the token brings along.
        JsonWebSignature own = new JsonWebSignature();
        own.setPayload(claims(c -> {}).toJson());
        own.setKey(next.getPrivateKey());
        own.setAlgorithmHeaderValue(AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256);
        own.setJwkHeader(next);
        refused("not", own.getCompactSerialization());
        for (String junk : List.of("eyJ.", "eyJ.a.b", "eyJhbGciOiJSUzI1NiJ9..", good + ".x.y")) {
            assertInstanceOf(Verdict.Refused.class, verdict(junk), junk);
        }
        assertInstanceOf(Verdict.Refused.class, verdict("eyJ" + "a.".repeat(5_000)));
    }

    @Test
    void an_algorithm_that_is_not_allowed_is_refused_though_its_key_is_known() throws Exception {
        JsonWebSignature s = new JsonWebSignature();
        s.setPayload(claims(c -> {}).toJson());
        s.setKey(rsa.getPrivateKey());
        s.setKeyIdHeaderValue("rsa");
        s.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA512);
        refused("not valid", s.getCompactSerialization());
        for (String no : List.of("HS256", "none", "RS1", "")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () ->
                            new JwtOptions(
                                    "i",
                                    List.of("a"),
                                    List.of(no),
                                    Duration.ZERO,
                                    Duration.ZERO,
                                    null,
                                    null,
                                    null,
                                    null,
                                    null,
                                    0,
                                    0));
        }
    }

    @Test
    void a_secret_in_the_key_set_verifies_nothing() throws Exception {
        JsonWebKey secret = OctJwkGenerator.generateJwk(256);
        secret.setKeyId("oct");
        published = List.of(rsa, secret);
        keys.refresh();
        assertEquals(1, keys.now().keys().size());
    }

    @Test
    void a_new_key_of_the_issuer_is_fetched_when_a_token_shows_it() throws Exception {
        assertInstanceOf(Caller.class, verdict(token(c -> {})));
        assertEquals(1, asked.get());
        published = List.of(rsa, next);
        String rotated = sign(claims(c -> {}), next);
        refused("key", rotated);
        assertEquals(1, asked.get(), "asked just now");
        seconds.addAndGet(10);
        assertInstanceOf(Caller.class, verdict(rotated));
        assertEquals(2, asked.get());
        // A flood of tokens with keys that do not exist asks nobody.
        for (int i = 0; i < 50; i++) {
            int n = i;
            refused("key", sign(claims(c -> c.setSubject("s" + n)), key(copy(ec), "no" + i)));
        }
        assertEquals(2, asked.get());
    }

    private static PublicJsonWebKey copy(PublicJsonWebKey of) throws JoseException {
        return PublicJsonWebKey.Factory.newPublicJwk(
                of.toParams(JsonWebKey.OutputControlLevel.INCLUDE_PRIVATE));
    }

    @Test
    void an_issuer_that_is_gone_leaves_its_keys_in_force_and_is_asked_less_and_less()
            throws Exception {
        assertEquals(Duration.ofMinutes(10), keys.refresh());
        dead = true;
        List<Long> waits = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            waits.add(keys.refresh().toSeconds());
        }
        assertEquals(List.of(2L, 4L, 8L, 16L, 32L, 64L, 128L, 256L, 512L, 600L, 600L, 600L), waits);
        assertInstanceOf(Caller.class, verdict(token(c -> {})));
        dead = false;
        assertEquals(Duration.ofMinutes(10), keys.refresh());
    }

    @Test
    void a_verified_token_is_known_at_once_for_a_while_and_never_past_its_end() throws Exception {
        String token = token(c -> {});
        Verdict first = verdict(token);
        assertSame(first, clients.check(token));
        seconds.addAndGet(61);
        assertInstanceOf(Verdict.Later.class, clients.check(token), "looked at again");
        seconds.set(329);
        assertInstanceOf(Caller.class, verdict(token));
        seconds.set(330);
        refused("expired", token);
        assertSame(
                assertInstanceOf(Caller.class, first).requests(),
                callerAt(0, token).requests(),
                "its budget goes on");
    }

    @Test
    void a_clock_that_is_set_back_leaves_nobody_known_for_longer() throws Exception {
        String token = token(c -> {});
        assertInstanceOf(Caller.class, verdict(token));
        jumped.set(-1);
        assertInstanceOf(Caller.class, clients.check(token));
        jumped.set(-Duration.ofDays(1).toSeconds());
        seconds.addAndGet(61);
        assertInstanceOf(Verdict.Later.class, clients.check(token), "looked at again");
        jumped.set(0);
        assertInstanceOf(Caller.class, verdict(token));
        jumped.set(Duration.ofDays(1).toSeconds());
        refused("expired", token);
    }

    private Caller callerAt(long second, String token) {
        seconds.set(second);
        return assertInstanceOf(Caller.class, verdict(token));
    }

    @Test
    void too_many_at_once_are_told_to_come_later() throws Exception {
        List<Runnable> waiting = new ArrayList<>();
        JwtClients slow = clients(options(null, null), waiting::add);
        int later = 0;
        for (int i = 0; i < 300; i++) {
            int n = i;
            Verdict v = slow.check(token(c -> c.setSubject("s" + n)));
            later += v instanceof Verdict.Later ? 1 : 0;
            assertTrue(v instanceof Verdict.Later || v instanceof Verdict.Busy);
        }
        assertEquals(256, later);
        waiting.forEach(Runnable::run);
        assertInstanceOf(Verdict.Later.class, slow.check(token(c -> {})));
    }

    @Test
    void a_host_that_does_not_answer_holds_up_nobody_who_is_known() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        HttpServer silent =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AtomicInteger calls = new AtomicInteger();
        silent.createContext(
                "/",
                exchange -> {
                    if (calls.getAndIncrement() > 0) {
                        try {
                            end.await(); // every answer but the first one
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                    }
                    byte[] body =
                            new JsonWebKeySet(List.of(rsa))
                                    .toJson()
                                    .getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        silent.setExecutor(apart());
        silent.start();
        URI url = URI.create("http://127.0.0.1:" + silent.getAddress().getPort() + "/");
        try (KeySetUrl source = new KeySetUrl(url)) {
            IssuerKeys remote =
                    new IssuerKeys(
                            source,
                            "the test",
                            Duration.ofMinutes(1),
                            () -> TimeUnit.SECONDS.toNanos(seconds.get()));
            remote.refresh();
            JwtClients ours =
                    new JwtClients(
                            options(null, null),
                            remote,
                            new Budgets(10),
                            task -> Thread.ofVirtual().start(task),
                            () -> START,
                            () -> 0);
            seconds.addAndGet(20);
            Verdict.Later stuck =
                    assertInstanceOf(Verdict.Later.class, ours.check(sign(claims(c -> {}), next)));
            assertInstanceOf(Caller.class, verdict(ours, token(c -> {})));
            assertFalse(stuck.verdict().toCompletableFuture().isDone());
            end.countDown();
            assertInstanceOf(
                    Verdict.Refused.class,
                    stuck.verdict().toCompletableFuture().get(20, TimeUnit.SECONDS));
        } finally {
            end.countDown();
            silent.stop(0);
        }
    }

    private static Executor apart() {
        return task -> Thread.ofVirtual().start(task);
    }

    @Test
    void keys_are_fetched_over_https_only() {
        for (String no : List.of("http://issuer/jwks", "ftp://x/", "file:///x", "https:/x")) {
            assertThrows(IllegalArgumentException.class, () -> new KeySetUrl(URI.create(no)), no);
        }
    }

    /** RFC 7517, 4.4: `alg` says what the key is for; RFC 8725, 3.1: and for nothing else. */
    @Test
    void a_key_that_names_its_algorithm_verifies_no_other() throws Exception {
        published = List.of(saying("RS512"), ec);
        refused("not known", token(c -> {}));
        published = List.of(saying("RS256"), ec);
        seconds.addAndGet(20);
        assertInstanceOf(Caller.class, verdict(token(c -> c.setClaim("x", 1))));
        // Without a kid each key is tried, but for its own algorithm only.
        published = List.of(saying("RS512"));
        seconds.addAndGet(20);
        keys.refresh();
        JsonWebSignature s = new JsonWebSignature();
        s.setPayload(claims(c -> c.setClaim("x", 2)).toJson());
        s.setKey(rsa.getPrivateKey());
        s.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
        assertInstanceOf(Verdict.Refused.class, verdict(s.getCompactSerialization()));
    }

    private static PublicJsonWebKey saying(String algorithm) throws JoseException {
        PublicJsonWebKey key = PublicJsonWebKey.Factory.newPublicJwk(rsa.toJson());
        key.setAlgorithm(algorithm);
        return key;
    }
}
