/** Whether and when a request may start: queue, policy classes, busy thresholds. JDK only. */
@NullMarked
package io.warmpath.admission;

import org.jspecify.annotations.NullMarked;
