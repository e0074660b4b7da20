package io.warmpath.upstream.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Certificates and keys in PEM files, as the JDK's TLS wants them. Stateless; reads files. */
final class PemFiles {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

    private PemFiles() {}

    /** Trusts what these certificates have signed. */
    static X509ExtendedTrustManager trust(Path authorities)
            throws IOException, GeneralSecurityException {
        KeyStore store = empty();
        Certificate[] all = certificates(authorities);
        for (int i = 0; i < all.length; i++) {
            store.setCertificateEntry("ca" + i, all[i]);
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

    /** Shows the certificate, the first one of its file, and the chain behind it. */
    static X509ExtendedKeyManager identity(Path certificate, Path key)
            throws IOException, GeneralSecurityException {
        Certificate[] chain = certificates(certificate);
        PrivateKey secret = key(key);
        checkPair(chain[0].getPublicKey(), secret);
        KeyStore store = empty();
        char[] password = {};
        store.setKeyEntry("own", secret, password, chain);
        KeyManagerFactory factory =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, password);
        for (KeyManager m : factory.getKeyManagers()) {
            if (m instanceof X509ExtendedKeyManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("this JDK has no X.509 key manager");
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Certificate[] certificates(Path file)
            throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            Certificate[] all =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(in)
                            .toArray(Certificate[]::new);
            if (all.length == 0) {
                throw new GeneralSecurityException("there is no certificate in it");
            }
            return all;
        }
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file, StandardCharsets.US_ASCII);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END, Math.max(0, begin));
        if (begin < 0 || end < 0) {
            throw new GeneralSecurityException("there is no `BEGIN PRIVATE KEY` in " + file);
        }
        byte[] der;
        try {
            der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException("the key in " + file + " is not base64", e);
        }
        GeneralSecurityException last = null;
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm)
                        .generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (GeneralSecurityException e) {
                last = e;
            }
        }
        throw new GeneralSecurityException("the key in " + file + " is of no known kind", last);
    }

    /** Files that are being replaced do not fit for a moment. */
    private static void checkPair(PublicKey shown, PrivateKey secret)
            throws GeneralSecurityException {
        @Nullable String algorithm =
                switch (secret.getAlgorithm()) {
                    case "EC" -> "SHA256withECDSA";
                    case "RSA" -> "SHA256withRSA";
                    default -> "EdDSA";
                };
        Signature sign = Signature.getInstance(algorithm);
        sign.initSign(secret);
        sign.update(new byte[] {1});
        byte[] signature = sign.sign();
        boolean fits;
        try {
            Signature verify = Signature.getInstance(algorithm);
            verify.initVerify(shown);
            verify.update(new byte[] {1});
            fits = verify.verify(signature);
        } catch (GeneralSecurityException e) {
            fits = false; // of another kind
        }
        if (!fits) {
            throw new GeneralSecurityException("the key is not that of the certificate");
        }
    }
}
