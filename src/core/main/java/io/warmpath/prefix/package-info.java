/** Ports and values of the prefix index. JDK only. */
@NullMarked
package io.warmpath.prefix;

import org.jspecify.annotations.NullMarked;
