/** The last entries of something, within bounds of number, memory and rate. JDK only. */
@NullMarked
package io.warmpath.journal;

import org.jspecify.annotations.NullMarked;
