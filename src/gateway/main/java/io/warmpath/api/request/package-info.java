/** Bodies of requests to {@link io.warmpath.gateway.request.InferenceRequest}. */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.request;
