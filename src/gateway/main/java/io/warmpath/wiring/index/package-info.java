/** The prefix index, the shared pool beside it, and the snapshots that a restart reads. */
@NullMarked
package io.warmpath.wiring.index;

import org.jspecify.annotations.NullMarked;
