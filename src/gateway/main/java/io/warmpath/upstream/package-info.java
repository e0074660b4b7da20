/** The streaming path to one engine: connections, requests, calls, cancel, time-outs. */
@org.jspecify.annotations.NullMarked
package io.warmpath.upstream;
