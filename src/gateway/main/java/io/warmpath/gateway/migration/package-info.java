/** Streams whose worker dies are gone on with elsewhere. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.migration;
