/** Kubernetes: workers from EndpointSlices and their pods, by lists and watches of the API. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.kubernetes;
