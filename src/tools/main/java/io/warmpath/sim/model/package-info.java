/** The simulated model: tokenizer, chat template, answers. */
@NullMarked
package io.warmpath.sim.model;

import org.jspecify.annotations.NullMarked;
