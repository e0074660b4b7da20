/**
 * What {@code /q/openapi} says of the gateway's paths. Clients' paths are described in {@code
 * META-INF/openapi.yaml}, operators' by annotations of their resources.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.openapi;
