/** The streaming path to one engine: connection, answer bytes, scanners, cancel, time-outs. */
@NullMarked
package io.warmpath.upstream;

import org.jspecify.annotations.NullMarked;
