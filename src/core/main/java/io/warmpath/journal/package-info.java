/** The last entries of something, within bounds of number, memory and rate. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.journal;
