package io.warmpath.upstream.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Shows the certificate of the moment; for handshakes from now on. Any thread. */
final class ChangingIdentity extends X509ExtendedKeyManager {
    private volatile X509ExtendedKeyManager now;

    ChangingIdentity(X509ExtendedKeyManager first) {
        this.now = first;
    }

    void replace(X509ExtendedKeyManager next) {
        now = next;
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return now.getClientAliases(keyType, issuers);
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyType, Principal @Nullable [] issuers, Socket socket) {
        return now.chooseClientAlias(keyType, issuers, socket);
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyType, Principal @Nullable [] issuers, SSLEngine engine) {
        return now.chooseEngineClientAlias(keyType, issuers, engine);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return now.getServerAliases(keyType, issuers);
    }

    @Override
    public @Nullable String chooseServerAlias(
            String keyType, Principal @Nullable [] issuers, Socket socket) {
        return now.chooseServerAlias(keyType, issuers, socket);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return now.getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return now.getPrivateKey(alias);
    }
}
