package io.warmpath.api;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Certificates that sign themselves, made by the JDK's keytool; a second each, and so once in a JVM
 * for a name and subject.
 */
public final class Certificates {
    private static final String PASSWORD = "changeit";
    private static final Map<String, byte[]> STORES = new ConcurrentHashMap<>();

    /** One certificate with its key, as files and as a store. */
    public record Identity(Path certificate, Path key, KeyStore store) {}

    private Certificates() {}

    /**
     * @param subject alternative name, such as {@code ip:127.0.0.1}
     */
    public static Identity make(Path folder, String name, String subject) throws Exception {
        byte[] store = STORES.get(name + " " + subject);
        if (store == null) {
            store = generated(folder.resolve(name + ".p12"), name, subject);
            STORES.put(name + " " + subject, store);
        }
        KeyStore loaded = KeyStore.getInstance("PKCS12");
        loaded.load(new ByteArrayInputStream(store), PASSWORD.toCharArray());
        Path certificate = folder.resolve(name + ".crt");
        Path key = folder.resolve(name + ".key");
        pem(certificate, "CERTIFICATE", loaded.getCertificate("k").getEncoded());
        pem(key, "PRIVATE KEY", loaded.getKey("k", PASSWORD.toCharArray()).getEncoded());
        return new Identity(certificate, key, loaded);
    }

    private static byte[] generated(Path store, String name, String subject) throws Exception {
        run(
                "-genkeypair",
                "-alias",
                "k",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=" + subject,
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD);
        return Files.readAllBytes(store);
    }

    /** For a server that shows {@code own}, and asks for {@code client} when that is given. */
    public static SSLContext server(Identity own, Identity client)
            throws GeneralSecurityException, IOException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(own.store(), PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(
                "c", (client == null ? own : client).store().getCertificate("k"));
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static void pem(Path file, String what, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        Files.writeString(
                file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }

    private static void run(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
    }
}
