/** From a request to a routing decision. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.plan;
