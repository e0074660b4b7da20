/** The streaming path to one engine: connections, requests, calls, cancel, time-outs. */
@NullMarked
package io.warmpath.upstream;

import org.jspecify.annotations.NullMarked;
