/** Which workers exist and how they are: immutable snapshots. JDK only. */
@NullMarked
package io.warmpath.fleet;

import org.jspecify.annotations.NullMarked;
