/** Bodies of requests to {@link io.warmpath.gateway.request.InferenceRequest}. */
@NullMarked
package io.warmpath.api.request;

import org.jspecify.annotations.NullMarked;
