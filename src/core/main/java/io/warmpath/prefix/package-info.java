/** Ports and values of the prefix index. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.prefix;
