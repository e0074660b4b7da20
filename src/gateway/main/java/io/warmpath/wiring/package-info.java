/** Composition root: turns configuration into plain objects. */
@NullMarked
package io.warmpath.wiring;

import org.jspecify.annotations.NullMarked;
