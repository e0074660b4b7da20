/** Clients of engines, and who the clients of the gateway are: TLS, keys, tokens. */
@NullMarked
package io.warmpath.wiring.engines;

import org.jspecify.annotations.NullMarked;
