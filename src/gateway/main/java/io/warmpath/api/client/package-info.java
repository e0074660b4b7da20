/**
 * Resources for clients: who may come in, and the plain way of each request to its handler. The
 * fast way, {@code connection.RawInlet}, leads to the same handlers.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.client;
