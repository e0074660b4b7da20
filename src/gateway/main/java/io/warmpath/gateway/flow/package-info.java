/** One request's life: its order of steps, attempts and retries, and its one end. */
@NullMarked
package io.warmpath.gateway.flow;

import org.jspecify.annotations.NullMarked;
