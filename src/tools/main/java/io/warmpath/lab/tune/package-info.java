/** Searches for the weights of the product's cost. Knows nothing of what is played. */
@NullMarked
package io.warmpath.lab.tune;

import org.jspecify.annotations.NullMarked;
