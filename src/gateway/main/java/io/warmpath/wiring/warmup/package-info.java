/** Requests that nobody sent, through the real path, so that the first real ones find it fast. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.warmup;
