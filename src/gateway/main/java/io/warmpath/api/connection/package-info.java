/**
 * Clients' connections: requests as they arrive, bodies as they are collected, answers as they are
 * written; through the server's codec or past it.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.connection;
