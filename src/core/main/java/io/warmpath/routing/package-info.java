/** The pure decision: filter, score, pick. JDK only. */
@NullMarked
package io.warmpath.routing;

import org.jspecify.annotations.NullMarked;
