package io.warmpath.net.server;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;

/**
 * A certificate that nobody has signed but its own key (P-256, X.509 version 3), for a port whose
 * other side encrypts and does not ask who is there. Both texts are PEM.
 *
 * <p>Source: RFC 5280, section 4.1; RFC 5758, section 3.2. The JDK makes keys and signatures, and
 * no certificates.
 *
 * @param key PKCS #8
 */
public record SelfSigned(String certificate, String key) {
    private static final Duration BEFORE = Duration.ofDays(1);
    private static final Duration LIFE = Duration.ofDays(3650);

    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OBJECT = 0x06;
    private static final int UTF8 = 0x0c;
    private static final int UTC_TIME = 0x17;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;

    /** X.509 version 3, in its own tag. */
    private static final byte[] VERSION_3 = {(byte) 0xa0, 3, INTEGER, 1, 2};

    /** 1.2.840.10045.4.3.2, ecdsa-with-SHA256. */
    private static final byte[] ECDSA_SHA256 = {
        0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2
    };

    /** 2.5.4.3, commonName. */
    private static final byte[] COMMON_NAME = {0x55, 4, 3};

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    /**
     * With a new key.
     *
     * @param name of who shows it
     * @param now from a day before which it counts, for ten years
     */
    public static SelfSigned of(String name, Instant now) {
        try {
            KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
            keys.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = keys.generateKeyPair();
            byte[] algorithm = der(SEQUENCE, der(OBJECT, ECDSA_SHA256));
            byte[] who =
                    der(
                            SEQUENCE,
                            der(
                                    SET,
                                    der(
                                            SEQUENCE,
                                            der(OBJECT, COMMON_NAME),
                                            der(UTF8, name.getBytes(StandardCharsets.UTF_8)))));
            byte[] facts =
                    der(
                            SEQUENCE,
                            VERSION_3,
                            der(INTEGER, BigInteger.valueOf(now.toEpochMilli()).toByteArray()),
                            algorithm,
                            who,
                            der(SEQUENCE, time(now.minus(BEFORE)), time(now.plus(LIFE))),
                            who,
                            pair.getPublic().getEncoded());
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(pair.getPrivate());
            signer.update(facts);
            byte[] certificate =
                    der(SEQUENCE, facts, algorithm, der(BIT_STRING, new byte[] {0}, signer.sign()));
            return new SelfSigned(
                    pem("CERTIFICATE", certificate),
                    pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has P-256", e);
        }
    }

    private static byte[] time(Instant at) {
        return der(UTC_TIME, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] der(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 4);
        out.write(tag);
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static String pem(String what, byte[] der) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }
}
