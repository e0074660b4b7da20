/** The prefix index, the shared pool beside it, and the snapshots that a restart reads. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.index;
