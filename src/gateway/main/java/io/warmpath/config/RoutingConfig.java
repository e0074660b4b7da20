package io.warmpath.config;

/** Settings of single router modes. */
public interface RoutingConfig {
    VllmCacheAwareConfig vllmCacheAware();
}
