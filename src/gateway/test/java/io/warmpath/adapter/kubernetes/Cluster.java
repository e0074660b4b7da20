package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** An API server whose objects a test changes. */
interface Cluster extends AutoCloseable {
    String PODS = "/api/v1/namespaces/" + Objects.NAMESPACE + "/pods";
    String SLICES = "/apis/discovery.k8s.io/v1/namespaces/" + Objects.NAMESPACE + "/endpointslices";

    String POOLS =
            "/apis/inference.networking.k8s.io/v1/namespaces/"
                    + Objects.NAMESPACE
                    + "/inferencepools";
    String OBJECTIVES =
            "/apis/llm-d.ai/v1alpha2/namespaces/" + Objects.NAMESPACE + "/inferenceobjectives";
    String OLD_OBJECTIVES =
            "/apis/inference.networking.x-k8s.io/v1alpha2/namespaces/"
                    + Objects.NAMESPACE
                    + "/inferenceobjectives";

    String REWRITES =
            "/apis/llm-d.ai/v1alpha2/namespaces/" + Objects.NAMESPACE + "/inferencemodelrewrites";

    String OLD_REWRITES =
            "/apis/inference.networking.x-k8s.io/v1alpha2/namespaces/"
                    + Objects.NAMESPACE
                    + "/inferencemodelrewrites";

    KubernetesOptions options();

    /** Creates or changes the object of this name. */
    void put(String path, ObjectNode object);

    /** Changes the status of an object that is there. */
    void status(String path, ObjectNode object);

    /** A pod gets its deletionTimestamp and is still there. */
    void terminate(String pod);

    /** The object is there no more. */
    void remove(String path, String name);

    @Override
    void close();
}
