/** Prefill tokens and decode blocks booked per (worker, rank). JDK only. */
@NullMarked
package io.warmpath.load;

import org.jspecify.annotations.NullMarked;
