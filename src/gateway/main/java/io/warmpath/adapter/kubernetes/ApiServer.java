package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reads the Kubernetes API: GET and nothing else. Calls block; any thread but an event loop. The
 * JDK's client, with a connection that is made at the first call. Token and certificates are files
 * that the kubelet renews: the token is read for each request, the certificates when their file has
 * changed.
 */
final class ApiServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration ANSWER = Duration.ofSeconds(30);
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final int MAX_ERROR_BYTES = 16 * 1024;
    private static final String NO_FILE = "";

    private final KubernetesOptions options;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private @Nullable HttpClient client;
    private Object clientOf = NO_FILE;

    ApiServer(KubernetesOptions options) {
        this.options = options;
    }

    JsonNode list(String path) throws IOException, InterruptedException {
        try (InputStream body = open(path)) {
            return JSON.readTree(body);
        }
    }

    /**
     * The answer's body, to be closed by the caller: also from another thread, which ends a read.
     *
     * @throws ApiException when the status is not 200
     */
    BoundedAnswer open(String path) throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(options.apiServer() + path))
                        .timeout(ANSWER)
                        .header("Accept", "application/json");
        Path token = options.tokenFile();
        if (token != null) {
            request.header("Authorization", "Bearer " + Files.readString(token).strip());
        }
        HttpResponse<InputStream> answer =
                client().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (answer.statusCode() == 200) {
            return new BoundedAnswer(answer.body());
        }
        try (InputStream body = answer.body()) {
            throw refused(answer.statusCode(), body.readNBytes(MAX_ERROR_BYTES));
        }
    }

    private ApiException refused(int status, byte[] body) {
        String said;
        try {
            said = JSON.readTree(body).path("message").asText();
        } catch (IOException e) {
            said = "";
        }
        return new ApiException(
                status,
                options.apiServer()
                        + " answered "
                        + status
                        + (said.isEmpty() ? "" : ": " + said)
                        + advice(status));
    }

    private String advice(int status) {
        boolean pool = options.inferencePool() != null;
        if (status == 404 && pool) {
            return "; are the CRDs of the Gateway API Inference Extension installed?";
        }
        if (status != 401 && status != 403) {
            return "";
        }
        return "; the gateway's service account needs list and watch on pods and on "
                + (pool
                        ? "inferencepools.inference.networking.k8s.io"
                        : "endpointslices.discovery.k8s.io")
                + " in namespace "
                + options.namespace()
                + (pool ? " (k8s/components/endpoint-picker)" : " (k8s/components/discovery)");
    }

    private synchronized HttpClient client() throws IOException {
        Path file = options.caFile();
        Object now = file == null ? NO_FILE : version(file);
        HttpClient had = client;
        if (had != null && now.equals(clientOf)) {
            return had;
        }
        HttpClient.Builder builder =
                HttpClient.newBuilder()
                        // A watch holds a connection of its own; nothing is gained by sharing one.
                        .version(HttpClient.Version.HTTP_1_1)
                        .executor(threads)
                        .connectTimeout(CONNECT);
        if (file != null) {
            builder.sslContext(trusting(file));
        }
        HttpClient made = builder.build();
        client = made;
        clientOf = now;
        // Not closed: that would wait for running watches. It ends when they have.
        return made;
    }

    private static FileTime version(Path file) throws IOException {
        return Files.getLastModifiedTime(file);
    }

    static SSLContext trusting(Path file) throws IOException {
        try (InputStream pem = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int n = 0;
            for (Certificate c :
                    CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry("ca" + n++, c);
            }
            TrustManagerFactory trust =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(file + " holds no usable certificates: " + e.getMessage(), e);
        }
    }

    @Override
    public synchronized void close() {
        HttpClient had = client;
        if (had != null) {
            had.shutdownNow();
        }
        threads.shutdownNow();
    }
}
