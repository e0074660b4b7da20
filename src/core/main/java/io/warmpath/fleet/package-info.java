/** Which workers exist and how they are: immutable snapshots. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet;
