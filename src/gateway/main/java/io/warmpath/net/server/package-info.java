/**
 * Clients' connections: their limits, their memory, and the server's codec, which requests may go
 * past.
 */
@NullMarked
package io.warmpath.net.server;

import org.jspecify.annotations.NullMarked;
