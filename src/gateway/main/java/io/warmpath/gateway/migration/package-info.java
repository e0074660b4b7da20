/** Streams whose worker dies are gone on with elsewhere. */
@NullMarked
package io.warmpath.gateway.migration;

import org.jspecify.annotations.NullMarked;
