/**
 * SGLang's disaggregation: one engine computes a prompt, another one decodes its answer, and they
 * meet in a room whose number both were told.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.half;
