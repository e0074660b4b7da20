/** Composition root: turns configuration into plain objects. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring;
