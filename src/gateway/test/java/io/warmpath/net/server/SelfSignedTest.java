package io.warmpath.net.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import org.junit.jupiter.api.Test;

/** The JDK's own reader takes the certificate; that an Envoy does is seen by src/test/picker. */
class SelfSignedTest {
    private static final Instant NOW = Instant.parse("2026-11-26T12:00:00Z");

    private static X509Certificate certificate(SelfSigned made) throws CertificateException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(
                                new ByteArrayInputStream(
                                        made.certificate().getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void it_is_signed_by_its_own_key_and_counts_from_a_day_before() throws Exception {
        SelfSigned made = SelfSigned.of("a-name", NOW);
        X509Certificate read = certificate(made);
        PublicKey key = read.getPublicKey();
        read.verify(key);
        assertEquals("CN=a-name", read.getSubjectX500Principal().getName());
        assertEquals(read.getIssuerX500Principal(), read.getSubjectX500Principal());
        assertEquals(3, read.getVersion());
        assertEquals(NOW.minus(Duration.ofDays(1)), read.getNotBefore().toInstant());
        assertEquals(NOW.plus(Duration.ofDays(3650)), read.getNotAfter().toInstant());
        assertThrows(
                CertificateNotYetValidException.class,
                () -> read.checkValidity(Date.from(NOW.minus(Duration.ofDays(2)))));
        assertTrue(read.getSerialNumber().signum() > 0);

        String pem = made.key().replaceAll("-----[A-Z ]+-----|\\s", "");
        Signature signer = Signature.getInstance("SHA256withECDSA");
        signer.initSign(
                KeyFactory.getInstance("EC")
                        .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem))));
        signer.update((byte) 1);
        byte[] signature = signer.sign();
        signer.initVerify(key);
        signer.update((byte) 1);
        assertTrue(signer.verify(signature), "the key belongs to the certificate");
    }

    @Test
    void each_has_a_key_of_its_own() throws Exception {
        assertTrue(
                !certificate(SelfSigned.of("a", NOW))
                        .getPublicKey()
                        .equals(certificate(SelfSigned.of("a", NOW)).getPublicKey()));
    }
}
