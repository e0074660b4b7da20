package io.warmpath.gateway.request;

import org.jspecify.annotations.Nullable;

/** Models that operators have other ones stand for, by shares of their requests. Any thread. */
@FunctionalInterface
public interface ModelRewrites {
    /** Every model stands for itself. */
    ModelRewrites NONE = (model, share) -> null;

    /**
     * @param share from 0 to below 1: where in the shares
     * @return what stands for it; null: itself
     */
    @Nullable String target(String model, double share);
}
