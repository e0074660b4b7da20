/** Pages of {@code src/docs/reference} that are made from the code. */
@NullMarked
package io.warmpath.reference;

import org.jspecify.annotations.NullMarked;
