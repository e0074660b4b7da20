/**
 * Clients' connections: their limits, their memory, and the server's codec, which requests may go
 * past.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.net.server;
