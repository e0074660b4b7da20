/** Searches for the weights of the product's cost. Knows nothing of what is played. */
@org.jspecify.annotations.NullMarked
package io.warmpath.lab.tune;
