/**
 * What a client says beside its prompt: headers, {@code nvext}, pins, taints, overrides of the
 * router's settings.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.hints;
