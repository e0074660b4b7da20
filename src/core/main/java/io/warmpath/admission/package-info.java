/** Whether and when a request may start: queue, policy classes, busy thresholds. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.admission;
