/** The pure decision: filter, score, pick. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.routing;
