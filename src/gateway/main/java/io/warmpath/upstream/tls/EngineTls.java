package io.warmpath.upstream.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * How engines behind {@code https://} prove who they are, and how we do; to engines of every kind
 * also by their API keys. Any thread. Files that have changed count from {@link #reload} on, for
 * new connections. With nothing set the JDK's trust store counts, and is not read before it is
 * needed, because reading it takes long at start. TLS 1.2 and 1.3.
 */
public final class EngineTls {
    private static final Logger LOG = Logger.getLogger(EngineTls.class);

    private final @Nullable Path authorities;
    private final @Nullable Path certificate;
    private final @Nullable Path key;
    private final boolean verify;
    private final EngineKeys keys;
    private final @Nullable ChangingTrust trust;
    private final @Nullable ChangingIdentity identity;
    private final List<Runnable> followers = new CopyOnWriteArrayList<>();
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

    /** As the other. {@code keys}: what else we show, to engines of every kind. */
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
        // They complain now, not at the first request.
        this.trust =
                authorities == null || !verify ? null : new ChangingTrust(readTrust(authorities));
        this.identity =
                certificate == null || key == null
                        ? null
                        : new ChangingIdentity(readIdentity(certificate, key));
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
        if (!verify) {
            builder.trustManager(InsecureTrustManagerFactory.INSTANCE);
        } else if (trust != null) {
            builder.trustManager(trust);
        }
        if (identity != null) {
            builder.keyManager(identity);
        }
        try {
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalArgumentException("no TLS: " + e.getMessage(), e);
        }
    }

    /**
     * Reads the files again. Blocks.
     *
     * @throws IllegalArgumentException when one cannot be used; then those that counted still do
     */
    public void reload() {
        X509ExtendedTrustManager nextTrust =
                trust == null || authorities == null ? null : readTrust(authorities);
        X509ExtendedKeyManager nextIdentity =
                identity == null || certificate == null || key == null
                        ? null
                        : readIdentity(certificate, key);
        if (trust != null && nextTrust != null) {
            trust.replace(nextTrust);
        }
        if (identity != null && nextIdentity != null) {
            identity.replace(nextIdentity);
        }
        synchronized (this) {
            context = null; // with it go the sessions that were made with the old ones
        }
        followers.forEach(Runnable::run);
    }

    private static X509ExtendedTrustManager readTrust(Path authorities) {
        try {
            return PemFiles.trust(authorities);
        } catch (IOException | GeneralSecurityException e) {
            throw unusable("authorities", authorities, e);
        }
    }

    private static X509ExtendedKeyManager readIdentity(Path certificate, Path key) {
        try {
            return PemFiles.identity(certificate, key);
        } catch (IOException | GeneralSecurityException e) {
            throw unusable("certificate or key", certificate, e);
        }
    }

    private static IllegalArgumentException unusable(String what, Path file, Exception cause) {
        Throwable deepest = cause;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String why = deepest == cause ? cause.getMessage() : cause.getMessage() + ": " + deepest;
        return new IllegalArgumentException(
                "the " + what + " in " + file + " cannot be used: " + why, cause);
    }

    /** One connection's engine; asks for the certificate of {@code host}. */
    public SSLEngine engine(ByteBufAllocator memory, String host, int port) {
        SSLEngine engine = context().newEngine(memory, host, port);
        if (verify) {
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            engine.setSSLParameters(parameters);
        }
        return engine;
    }

    /**
     * Lets a client of Vert.x forget its sessions at each reload: one that is resumed is not
     * checked again. For clients that live as long as this.
     */
    public void follow(HttpClient client, HttpClientOptions options) {
        if (trust != null || identity != null) {
            followers.add(
                    () ->
                            client.updateSSLOptions(options.getSslOptions(), true)
                                    .onFailure(e -> LOG.error("TLS to engines, new files", e)));
        }
    }

    /** The same for clients of Vert.x. */
    public HttpClientOptions applyTo(HttpClientOptions options) {
        if (!verify) {
            options.setTrustAll(true).setVerifyHost(false);
        } else if (trust != null) {
            options.setTrustOptions(TrustOptions.wrap(trust));
        }
        if (identity != null) {
            options.setKeyCertOptions(KeyCertOptions.wrap(identity));
        }
        return options;
    }
}
