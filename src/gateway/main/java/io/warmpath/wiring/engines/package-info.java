/** Clients of engines, and who the clients of the gateway are: TLS, keys, tokens. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.engines;
