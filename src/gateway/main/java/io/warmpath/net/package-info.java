/**
 * What lies below HTTP paths in both directions: sockets, header lists, deadlines, names, and what
 * Vert.x does not promise. Knows no worker and no request of ours.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.net;
