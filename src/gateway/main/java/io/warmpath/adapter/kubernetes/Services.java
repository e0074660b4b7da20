package io.warmpath.adapter.kubernetes;

import org.jspecify.annotations.Nullable;

/** EndpointSlices of Services, and the pods behind them. */
final class Services implements ClusterView {
    private final KubernetesOptions options;
    private final Reflector<Slice> slices;
    private final Reflector<Pod> pods;

    Services(KubernetesOptions options, Reflector.Setup setup, Runnable changed) {
        this.options = options;
        slices =
                new Reflector<>(
                        "endpointslices",
                        setup,
                        Reflector.Selection.labelled(
                                "/apis/discovery.k8s.io/v1/namespaces/"
                                        + options.namespace()
                                        + "/endpointslices",
                                options.selector()),
                        Slice::of,
                        changed,
                        false);
        pods = Pod.reflector(options.namespace(), options.selector(), setup, changed);
    }

    @Override
    public String what() {
        return "EndpointSlices and pods with " + options.selector();
    }

    @Override
    public void start() {
        slices.start();
        pods.start();
    }

    @Override
    public @Nullable FoundWorkers found() {
        return slices.listed() && pods.listed()
                ? FoundWorkers.of(slices.objects().values(), pods.objects())
                : null;
    }

    @Override
    public boolean connected() {
        return slices.connected() && pods.connected();
    }

    @Override
    public void close() {
        slices.close();
        pods.close();
    }
}
