/** Prompts that clients want kept in cache: pins, and what keeps them fresh. */
@NullMarked
package io.warmpath.gateway.pin;

import org.jspecify.annotations.NullMarked;
