package io.warmpath.adapter.nats;

import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** TLS towards NATS from PEM files; checks the server's name, which jnats leaves out. Stateless. */
final class NatsTls {
    private NatsTls() {}

    /** Throws {@link IllegalArgumentException} when a file cannot be used. */
    static SSLContext context(NatsOptions options) {
        try {
            SslContextBuilder builder =
                    SslContextBuilder.forClient()
                            .sslProvider(SslProvider.JDK)
                            .protocols("TLSv1.3", "TLSv1.2")
                            .trustManager(new NameCheck(trust(options.authorities())));
            Path certificate = options.certificate();
            Path key = options.key();
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
            return ((JdkSslContext) builder.build()).context();
        } catch (IllegalArgumentException | IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "the TLS files for NATS (warmpath.nats.tls) cannot be used: " + e.getMessage(),
                    e);
        }
    }

    private static X509ExtendedTrustManager trust(@Nullable Path authorities)
            throws IOException, GeneralSecurityException {
        KeyStore store = null;
        if (authorities != null) {
            store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            try (InputStream in = Files.newInputStream(authorities)) {
                int i = 0;
                for (Certificate c :
                        CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                    store.setCertificateEntry("ca" + i++, c);
                }
            }
        }
        TrustManagerFactory factory =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        for (TrustManager m : factory.getTrustManagers()) {
            if (m instanceof X509ExtendedTrustManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("this JDK has no X.509 trust manager");
    }

    /** The JDK's checks, and that the certificate is the named host's. */
    private static final class NameCheck extends X509ExtendedTrustManager {
        private final X509ExtendedTrustManager jdk;

        NameCheck(X509ExtendedTrustManager jdk) {
            this.jdk = jdk;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            if (!(socket instanceof SSLSocket secure)) {
                throw new CertificateException("a TLS socket was expected");
            }
            SSLParameters p = secure.getSSLParameters();
            p.setEndpointIdentificationAlgorithm("HTTPS");
            secure.setSSLParameters(p);
            jdk.checkServerTrusted(chain, type, secure);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            SSLParameters p = engine.getSSLParameters();
            p.setEndpointIdentificationAlgorithm("HTTPS");
            engine.setSSLParameters(p);
            jdk.checkServerTrusted(chain, type, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            throw new CertificateException("a connection is needed to check the server's name");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            throw notAServer();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            throw notAServer();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            throw notAServer();
        }

        private static CertificateException notAServer() {
            return new CertificateException("this side takes no connections");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return jdk.getAcceptedIssuers();
        }
    }
}
