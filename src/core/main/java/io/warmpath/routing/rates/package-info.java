/**
 * Speeds of workers, learnt from what they did: prefill, decode, and the time that a request takes.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.routing.rates;
