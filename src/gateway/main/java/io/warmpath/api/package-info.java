/**
 * HTTP surface: its routes, who may come in, status and administration; each API has a room below.
 */
@NullMarked
package io.warmpath.api;

import org.jspecify.annotations.NullMarked;
