/** What runs before the program: on any JVM, so it can say that this one is too old. */
@org.jspecify.annotations.NullMarked
package io.warmpath.start;
