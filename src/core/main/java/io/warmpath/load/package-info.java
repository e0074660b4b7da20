/** Prefill tokens and decode blocks booked per (worker, rank). JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.load;
