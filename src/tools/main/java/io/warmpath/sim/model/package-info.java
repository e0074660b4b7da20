/** The simulated model: tokenizer, chat template, answers. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.model;
