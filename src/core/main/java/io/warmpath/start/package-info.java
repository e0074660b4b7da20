/** What runs before the program: on any JVM, so it can say that this one is too old. */
@NullMarked
package io.warmpath.start;

import org.jspecify.annotations.NullMarked;
