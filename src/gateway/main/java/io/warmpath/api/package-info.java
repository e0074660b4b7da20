/**
 * HTTP surface: its routes, who may come in, status and administration; each API has a room below.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api;
