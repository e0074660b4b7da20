/**
 * Speeds of workers, learnt from what they did: prefill, decode, and the time that a request takes.
 */
@NullMarked
package io.warmpath.routing.rates;

import org.jspecify.annotations.NullMarked;
