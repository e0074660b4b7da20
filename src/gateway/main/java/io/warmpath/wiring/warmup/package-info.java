/** Requests that nobody sent, through the real path, so that the first real ones find it fast. */
@NullMarked
package io.warmpath.wiring.warmup;

import org.jspecify.annotations.NullMarked;
