/**
 * Envoy's ext_proc protocol as bytes: gRPC frames, and the messages that an endpoint picker reads
 * and writes.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.extproc;
