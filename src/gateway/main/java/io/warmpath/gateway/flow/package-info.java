/** One request's life: its order of steps, attempts and retries, and its one end. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.flow;
