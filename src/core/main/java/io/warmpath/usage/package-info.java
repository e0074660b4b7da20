/**
 * What requests have used, by tenant and model and by worker, summed over windows of time. JDK
 * only.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.usage;
