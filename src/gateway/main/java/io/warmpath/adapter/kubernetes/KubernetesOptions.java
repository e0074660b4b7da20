package io.warmpath.adapter.kubernetes;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the API is and what is looked at there. Immutable.
 *
 * @param apiServer base URL, {@code https} but for a proxy on this machine
 * @param tokenFile bearer token, read again for each request since kubelets renew it; null: none
 * @param caFile certificates that the server's is checked against; null: those of the JDK
 * @param namespace the one namespace that is watched
 * @param selector label selector of EndpointSlices, which carry their Service's labels, and of the
 *     pods behind them; not looked at with an InferencePool
 * @param inferencePool name of the InferencePool whose pods are the workers; null: those behind
 *     Services are
 * @param resync everything is listed anew this often, in case the watch missed something
 */
public record KubernetesOptions(
        URI apiServer,
        @Nullable Path tokenFile,
        @Nullable Path caFile,
        String namespace,
        String selector,
        @Nullable String inferencePool,
        Duration resync) {

    /** Where a pod finds what it needs of the API. */
    public static final Path SERVICE_ACCOUNT =
            Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
}
