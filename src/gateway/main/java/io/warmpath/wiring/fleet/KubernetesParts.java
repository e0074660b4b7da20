package io.warmpath.wiring.fleet;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.kubernetes.KubernetesOptions;
import io.warmpath.adapter.kubernetes.KubernetesSource;
import io.warmpath.config.engine.KubernetesConfig;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.gateway.request.ModelRewrites;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.telemetry.KubernetesMeters;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The source of workers that Kubernetes tells of, when it is wanted. Nothing of it is loaded, and
 * the API is not asked, unless it is.
 */
public final class KubernetesParts {
    private static final String NAMESPACE = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    private static final String OBJECT = "[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?";

    private final @Nullable KubernetesSource source;
    private final Objectives objectives;
    private final ModelRewrites rewrites;

    /**
     * @throws StartFailure naming what is missing, or contradicts itself
     */
    public KubernetesParts(KubernetesConfig config, MeterRegistry meters) {
        if (!config.enabled() && config.inferencePool().isEmpty()) {
            source = null;
            objectives = Objectives.NONE;
            rewrites = ModelRewrites.NONE;
            return;
        }
        KubernetesSource made =
                new KubernetesSource(
                        options(config, System.getenv(), KubernetesOptions.SERVICE_ACCOUNT),
                        new Random());
        KubernetesMeters.bind(
                meters,
                made,
                KubernetesSource::connected,
                s -> s.problems().size(),
                KubernetesSource::lists,
                KubernetesSource::failures);
        boolean pool = config.inferencePool().isPresent();
        if (pool) {
            KubernetesMeters.bindPool(
                    meters,
                    made,
                    KubernetesSource::serving,
                    KubernetesSource::objectives,
                    KubernetesSource::rewrites);
        }
        objectives = pool ? made::priority : Objectives.NONE;
        rewrites = pool ? made::rewritten : ModelRewrites.NONE;
        source = made;
    }

    /** Who tells the fleet of workers; empty: nobody of Kubernetes. */
    public Optional<FleetSource> source() {
        return Optional.ofNullable(source);
    }

    /** What the InferencePool's objectives make of requests that name one. */
    public Objectives objectives() {
        return objectives;
    }

    /** What the InferencePool's InferenceModelRewrites make of models' names. */
    public ModelRewrites rewrites() {
        return rewrites;
    }

    /**
     * Why the InferencePool has no endpoint that serves; empty: it has one, or none is configured.
     * Any thread.
     */
    public String lacking() {
        return source == null ? "" : source.lacking();
    }

    /**
     * @param account directory where a pod finds token, certificates and its namespace
     * @throws StartFailure naming what is missing
     */
    static KubernetesOptions options(
            KubernetesConfig config, Map<String, String> environment, Path account) {
        String pool = config.inferencePool().map(name -> pool(config, name)).orElse(null);
        boolean inside = config.apiServer().isEmpty();
        Path token = file(config.tokenFile(), inside ? account.resolve("token") : null);
        Path ca = file(config.caFile(), inside ? account.resolve("ca.crt") : null);
        return new KubernetesOptions(
                inside ? ofCluster(environment) : address(config.apiServer().get()),
                token,
                ca,
                namespace(config.namespace().orElseGet(() -> own(account))),
                config.selector(),
                pool,
                config.resync());
    }

    private static String pool(KubernetesConfig config, String name) {
        if (config.enabled()) {
            throw new StartFailure(
                    "warmpath.kubernetes.inference-pool names the pods that are workers, and so"
                            + " does warmpath.kubernetes.enabled: set one of the two.");
        }
        if (!name.matches(OBJECT)) {
            throw new StartFailure(
                    "warmpath.kubernetes.inference-pool: `"
                            + name
                            + "` is no name of an InferencePool.");
        }
        return name;
    }

    private static @Nullable Path file(Optional<String> configured, @Nullable Path usual) {
        Path file = configured.map(Path::of).orElse(usual);
        if (file != null && !Files.isReadable(file)) {
            throw new StartFailure(
                    "warmpath.kubernetes: "
                            + file
                            + " cannot be read; in a pod, set automountServiceAccountToken to"
                            + " true.");
        }
        return file;
    }

    private static URI ofCluster(Map<String, String> environment) {
        String host = environment.get("KUBERNETES_SERVICE_HOST");
        String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
        if (host == null) {
            throw new StartFailure(
                    "warmpath.kubernetes needs a cluster: this process is not in a pod"
                            + " (KUBERNETES_SERVICE_HOST is not set). Set"
                            + " warmpath.kubernetes.api-server, for example to the address of"
                            + " `kubectl proxy`.");
        }
        return address("https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port);
    }

    private static URI address(String text) {
        try {
            URI uri = URI.create(text.strip().replaceAll("/+$", ""));
            if (uri.getHost() != null
                    && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()))) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new StartFailure(
                "warmpath.kubernetes.api-server: `" + text + "` must look like https://host:6443.");
    }

    private static String namespace(String name) {
        if (!name.matches(NAMESPACE)) {
            throw new StartFailure(
                    "warmpath.kubernetes.namespace: `" + name + "` is no name of a namespace.");
        }
        return name;
    }

    private static String own(Path account) {
        Path file = account.resolve("namespace");
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new StartFailure(
                    "warmpath.kubernetes.namespace must be set: "
                            + file
                            + " does not tell the gateway's own.");
        }
    }
}
