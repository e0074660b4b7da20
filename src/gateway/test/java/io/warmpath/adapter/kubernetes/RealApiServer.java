package io.warmpath.adapter.kubernetes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Assumptions;

/**
 * A real kube-apiserver before a real etcd, as processes of this machine: API, validation, watches,
 * TLS and RBAC are Kubernetes' own; there are no nodes and no controllers.
 *
 * <p>{@code ./warmpath verify} builds the two; where they are missing the test is skipped and says
 * so.
 */
final class RealApiServer implements Cluster {
    private static final Path TOOLS = Path.of(".tools", "kubernetes");
    private static final String ADMIN = "admin-token";
    private static final String GATEWAY = "gateway-token";
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String MERGE = "application/merge-patch+json";

    private final Path folder;
    private final List<Process> processes = new ArrayList<>();
    private final int port;
    private final java.net.http.HttpClient http;

    /** Ready when this returns. */
    RealApiServer(Path folder) throws IOException {
        for (String program : List.of("kube-apiserver", "etcd")) {
            if (!Files.isExecutable(TOOLS.resolve(program))) {
                String why =
                        "SKIPPED: no "
                                + TOOLS.resolve(program)
                                + "; ./warmpath verify builds it (an API server takes some ten"
                                + " minutes)";
                System.err.println(why);
                Assumptions.abort(why);
            }
        }
        this.folder = folder;
        port = freePort();
        int etcd = freePort();
        int peers = freePort();
        write("service-account.pem", privateKey());
        write(
                "tokens.csv",
                ADMIN
                        + ",admin,1,system:masters\n"
                        + GATEWAY
                        + ",system:serviceaccount:"
                        + Objects.NAMESPACE
                        + ":warmpath,2,\"system:serviceaccounts,system:authenticated\"\n");
        write("token", GATEWAY);
        String store = "http://127.0.0.1:" + etcd;
        String peer = "http://127.0.0.1:" + peers;
        start(
                "etcd",
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=" + store,
                "--advertise-client-urls=" + store,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=default=" + peer);
        start(
                "kube-apiserver",
                "--etcd-servers=" + store,
                "--bind-address=127.0.0.1",
                "--secure-port=" + port,
                "--cert-dir=" + folder.resolve("certs"),
                "--service-account-issuer=warmpath-test",
                "--service-account-key-file=" + folder.resolve("service-account.pem"),
                "--service-account-signing-key-file=" + folder.resolve("service-account.pem"),
                "--service-cluster-ip-range=10.0.0.0/24",
                "--authorization-mode=RBAC",
                "--token-auth-file=" + folder.resolve("tokens.csv"),
                // There is no controller that would make the accounts this asks for.
                "--disable-admission-plugins=ServiceAccount");
        http = client();
        ready(() -> send("GET", "/readyz", "", null, ADMIN).statusCode() == 200);
        ask(
                "PATCH",
                "/api/v1/namespaces/" + Objects.NAMESPACE + "?fieldManager=test",
                APPLY,
                space());
    }

    private static ObjectNode space() {
        ObjectNode space = Objects.JSON.createObjectNode();
        space.put("apiVersion", "v1").put("kind", "Namespace");
        space.withObject("metadata").put("name", Objects.NAMESPACE);
        return space;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    private static String privateKey() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            KeyPair pair = generator.generateKeyPair();
            return "-----BEGIN PRIVATE KEY-----\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'})
                            .encodeToString(pair.getPrivate().getEncoded())
                    + "\n-----END PRIVATE KEY-----\n";
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private void start(String program, String... arguments) throws IOException {
        List<String> line = new ArrayList<>();
        line.add(TOOLS.resolve(program).toAbsolutePath().toString());
        line.addAll(List.of(arguments));
        processes.add(
                new ProcessBuilder(line)
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve(program + ".log").toFile())
                        .start());
    }

    /** Trusts what the server made for itself, once it is there. */
    private java.net.http.HttpClient client() throws IOException {
        Path certificate = folder.resolve("certs/apiserver.crt");
        ready(() -> Files.exists(certificate) && Files.size(certificate) > 0);
        return java.net.http.HttpClient.newBuilder()
                .sslContext(ApiServer.trusting(certificate))
                .build();
    }

    private void ready(Callable<Boolean> condition) {
        await().atMost(Duration.ofMinutes(1))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(
                        () -> {
                            if (!processes.stream().allMatch(Process::isAlive)) {
                                throw new IllegalStateException("a server ended: " + logs());
                            }
                            return condition.call();
                        });
    }

    private String logs() {
        try {
            return Files.readString(folder.resolve("kube-apiserver.log"))
                    + Files.readString(folder.resolve("etcd.log"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpResponse<String> send(
            String method, String path, String type, JsonNode body, String token)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                        .header("Authorization", "Bearer " + token)
                        .method(
                                method,
                                body == null
                                        ? HttpRequest.BodyPublishers.noBody()
                                        : HttpRequest.BodyPublishers.ofString(body.toString()));
        if (body != null) {
            request.header("Content-Type", type);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private void ask(String method, String path, String type, JsonNode body) {
        try {
            HttpResponse<String> answer = send(method, path, type, body, ADMIN);
            assertTrue(answer.statusCode() < 300, method + " " + path + ": " + answer.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes a kind of objects known; served when this returns. */
    void define(ObjectNode definition, String path) {
        definition.remove("status");
        put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
        ready(() -> send("GET", path, "", null, ADMIN).statusCode() == 200);
    }

    /** This one, to be used by several tests. */
    Cluster shared() {
        return new Cluster() {
            @Override
            public KubernetesOptions options() {
                return RealApiServer.this.options();
            }

            @Override
            public void put(String path, ObjectNode object) {
                RealApiServer.this.put(path, object);
            }

            @Override
            public void status(String path, ObjectNode object) {
                RealApiServer.this.status(path, object);
            }

            @Override
            public void terminate(String pod) {
                RealApiServer.this.terminate(pod);
            }

            @Override
            public void remove(String path, String name) {
                RealApiServer.this.remove(path, name);
            }

            @Override
            public void close() {
                // Whoever made the server closes it.
            }
        };
    }

    /** Gives the gateway's account the rights of a folder of k8s/components. */
    void grant(Path component) throws IOException {
        String rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + Objects.NAMESPACE;
        put(rbac + "/roles", Objects.yaml(component.resolve("role.yaml")));
        ObjectNode binding = Objects.yaml(component.resolve("rolebinding.yaml"));
        ((ObjectNode) binding.at("/subjects/0")).put("namespace", Objects.NAMESPACE);
        put(rbac + "/rolebindings", binding);
    }

    /** The status with which the gateway's own token is answered. */
    int asGateway(String path) throws IOException, InterruptedException {
        return send("GET", path, "", null, GATEWAY).statusCode();
    }

    @Override
    public KubernetesOptions options() {
        return new KubernetesOptions(
                URI.create("https://127.0.0.1:" + port),
                folder.resolve("token"),
                folder.resolve("certs/apiserver.crt"),
                Objects.NAMESPACE,
                Objects.SELECTOR,
                null,
                Duration.ofMinutes(10));
    }

    @Override
    public void put(String path, ObjectNode object) {
        ask(
                "PATCH",
                path + "/" + object.at("/metadata/name").asText() + "?fieldManager=test&force=true",
                APPLY,
                object);
    }

    @Override
    public void status(String path, ObjectNode object) {
        // Nothing else: what stands beside it would be another owner's.
        ObjectNode alone = Objects.JSON.createObjectNode();
        alone.set("apiVersion", object.get("apiVersion"));
        alone.set("kind", object.get("kind"));
        alone.withObject("metadata").set("name", object.at("/metadata/name"));
        alone.set("status", object.get("status"));
        ask(
                "PATCH",
                path
                        + "/"
                        + object.at("/metadata/name").asText()
                        + "/status?fieldManager=test-status&force=true",
                APPLY,
                alone);
    }

    /** As {@link #put}, but nothing stays; unknown and doubled fields are refused. */
    void tryOut(String group, String kinds, ObjectNode object) {
        ask(
                "PATCH",
                group
                        + "/namespaces/"
                        + Objects.NAMESPACE
                        + "/"
                        + kinds
                        + "/"
                        + object.at("/metadata/name").asText()
                        + "?fieldManager=test&force=true&dryRun=All&fieldValidation=Strict",
                APPLY,
                object);
    }

    /** A pod without a node is gone at once, but for its finalizer. */
    @Override
    public void terminate(String pod) {
        ask("DELETE", PODS + "/" + pod, "", null);
    }

    @Override
    public void remove(String path, String name) {
        if (path.equals(PODS)) {
            terminate(name);
            ask(
                    "PATCH",
                    path + "/" + name,
                    MERGE,
                    Objects.JSON
                            .createObjectNode()
                            .set(
                                    "metadata",
                                    Objects.JSON.createObjectNode().putNull("finalizers")));
        } else {
            ask("DELETE", path + "/" + name, "", null);
        }
    }

    /**
     * For the next test.
     *
     * @param paths of kinds that there may be objects of
     */
    void clear(String... paths) throws IOException, InterruptedException {
        for (String path : paths) {
            JsonNode list = Objects.JSON.readTree(send("GET", path, "", null, ADMIN).body());
            for (JsonNode object : list.path("items")) {
                remove(path, object.at("/metadata/name").asText());
            }
        }
    }

    @Override
    public void close() {
        // The API server first: without its store it would complain for a while.
        for (Process p : processes.reversed()) {
            p.destroyForcibly().onExit().join();
        }
    }
}
