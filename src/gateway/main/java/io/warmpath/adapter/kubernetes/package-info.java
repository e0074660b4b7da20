/** Kubernetes: workers from EndpointSlices and their pods, by lists and watches of the API. */
@NullMarked
package io.warmpath.adapter.kubernetes;

import org.jspecify.annotations.NullMarked;
