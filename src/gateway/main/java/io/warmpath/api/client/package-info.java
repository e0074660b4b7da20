/**
 * Resources for clients: who may come in, and the plain way of each request to its handler. The
 * fast way, {@code connection.RawInlet}, leads to the same handlers.
 */
@NullMarked
package io.warmpath.api.client;

import org.jspecify.annotations.NullMarked;
