package io.warmpath.gateway.observe;

import io.warmpath.fault.GatewayError;

/**
 * A request that was answered before it became one that is followed.
 *
 * @param path without the query
 * @param tenant empty: none is known
 * @param traceId as {@link TraceIds}; empty: none
 */
public record Refusal(
        String requestId, String path, String tenant, String traceId, GatewayError error) {}
