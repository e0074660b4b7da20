/** Prompts that clients want kept in cache: pins, and what keeps them fresh. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.pin;
