package io.warmpath.config.engine;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/** Workers found in a Kubernetes cluster. Part of {@link WarmpathConfig}. */
public interface KubernetesConfig {
    @WithDefault("false")
    @Setting(
            doc =
                    "Take the pods behind a namespace's Services as workers, as they come and go."
                            + " Needs list and watch on pods and EndpointSlices.",
            flags = "--service-discovery")
    boolean enabled();

    @Setting(
            doc = "Namespace that is watched; default: the gateway's own.",
            unit = "name",
            flags = "--service-discovery-namespace",
            env = "POD_NAMESPACE")
    Optional<String> namespace();

    @WithDefault("app.kubernetes.io/component=engine")
    @Setting(
            doc = "Labels of the Services whose pods are engines, and of these pods.",
            unit = "label selector",
            flags = "--selector")
    String selector();

    @Setting(
            doc =
                    "The InferencePool (inference.networking.k8s.io/v1) whose pods are the workers."
                            + " In place of `enabled`, which stays false. Needs list and watch on"
                            + " pods, InferencePools and InferenceObjectives.",
            unit = "name",
            flags = "--inference-pool")
    Optional<String> inferencePool();

    @WithDefault("10m")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Everything is listed anew this often, should a watch have missed something.",
            minTime = "10s",
            maxTime = "1d")
    Duration resync();

    @Setting(
            doc =
                    "Base URL of the API server; default: the one of the cluster that the gateway"
                            + " runs in.",
            unit = "URL")
    Optional<String> apiServer();

    @Setting(
            doc =
                    "File with the bearer token for the API server, read again for each request;"
                            + " default: the service account's, unless `api-server` is set.",
            unit = "path")
    Optional<String> tokenFile();

    @Setting(
            doc =
                    "File with the certificates that the API server's is checked against; default:"
                            + " the service account's, unless `api-server` is set.",
            unit = "path")
    Optional<String> caFile();
}
