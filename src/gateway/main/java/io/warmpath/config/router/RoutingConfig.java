package io.warmpath.config.router;

/** Settings of single router modes. */
public interface RoutingConfig {
    VllmCacheAwareConfig vllmCacheAware();
}
