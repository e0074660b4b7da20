/**
 * What requests have used, by tenant and model and by worker, summed over windows of time. JDK
 * only.
 */
@NullMarked
package io.warmpath.usage;

import org.jspecify.annotations.NullMarked;
