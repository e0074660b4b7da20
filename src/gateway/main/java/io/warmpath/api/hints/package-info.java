/**
 * What a client says beside its prompt: headers, {@code nvext}, pins, taints, overrides of the
 * router's settings.
 */
@NullMarked
package io.warmpath.api.hints;

import org.jspecify.annotations.NullMarked;
