package io.warmpath.upstream;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.nio.file.Path;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * How engines behind {@code https://} prove who they are, and how we do; to engines of every kind
 * also by their API keys.
 *
 * <p>Any thread. With nothing set the JDK's trust store counts, and is not read before it is
 * needed, because reading it takes long at start. TLS 1.2 and 1.3.
 */
public final class EngineTls {
    private final @Nullable Path authorities;
    private final @Nullable Path certificate;
    private final @Nullable Path key;
    private final boolean verify;
    private final EngineKeys keys;
    private @Nullable SslContext context; // guarded by this

    /**
     * @param authorities PEM file of the certificates that may sign engines' certificates; null:
     *     the JDK's trust store
     * @param certificate PEM file of our own certificate and its chain, for engines that ask for
     *     one; null: none
     * @param key PEM file of its private key, PKCS #8 and not encrypted; null exactly when {@code
     *     certificate} is
     * @param verify false: any certificate will do, for any name
     * @throws IllegalArgumentException when a file cannot be used; the message names what is wrong
     */
    public EngineTls(
            @Nullable Path authorities,
            @Nullable Path certificate,
            @Nullable Path key,
            boolean verify) {
        this(authorities, certificate, key, verify, EngineKeys.none());
    }

    /**
     * As the other.
     *
     * @param keys what else we show, to engines of every kind
     */
    public EngineTls(
            @Nullable Path authorities,
            @Nullable Path certificate,
            @Nullable Path key,
            boolean verify,
            EngineKeys keys) {
        this.keys = keys;
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException(
                    "a certificate needs its key, and a key its certificate");
        }
        this.authorities = authorities;
        this.certificate = certificate;
        this.key = key;
        this.verify = verify;
        if (authorities != null || certificate != null) {
            context(); // complains now, not at the first request
        }
    }

    /** The API keys that engines want, with TLS and without. */
    public EngineKeys keys() {
        return keys;
    }

    /** The JDK's trust store, no certificate of our own. */
    public static EngineTls standard() {
        return new EngineTls(null, null, null, true);
    }

    synchronized SslContext context() {
        SslContext known = context;
        if (known == null) {
            known = build();
            context = known;
        }
        return known;
    }

    private SslContext build() {
        SslContextBuilder builder =
                SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .protocols("TLSv1.3", "TLSv1.2");
        try {
            if (!verify) {
                builder.trustManager(new TrustAnyone());
            } else if (authorities != null) {
                builder.trustManager(authorities.toFile());
            }
        } catch (IllegalArgumentException e) {
            throw unusable("authorities", authorities, e);
        }
        try {
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
            return builder.build();
        } catch (IllegalArgumentException | SSLException e) {
            throw unusable("certificate or key", certificate, e);
        }
    }

    private static IllegalArgumentException unusable(
            String what, @Nullable Path file, Exception cause) {
        Throwable deepest = cause;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        return new IllegalArgumentException(
                "the " + what + " in " + file + " cannot be used: " + deepest.getMessage(), cause);
    }

    /** One connection's engine; asks for the certificate of {@code host}. */
    SSLEngine engine(ByteBufAllocator memory, String host, int port) {
        SSLEngine engine = context().newEngine(memory, host, port);
        if (verify) {
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            engine.setSSLParameters(parameters);
        }
        return engine;
    }

    /** The same for clients of Vert.x. */
    public HttpClientOptions applyTo(HttpClientOptions options) {
        if (!verify) {
            options.setTrustAll(true).setVerifyHost(false);
        } else if (authorities != null) {
            options.setTrustOptions(new PemTrustOptions().addCertPath(authorities.toString()));
        }
        if (certificate != null && key != null) {
            options.setKeyCertOptions(
                    new PemKeyCertOptions()
                            .setCertPath(certificate.toString())
                            .setKeyPath(key.toString()));
        }
        return options;
    }
}
