/** Who a client is and what it may do: keys, allow-lists, limits. No I/O. */
@NullMarked
package io.warmpath.access;

import org.jspecify.annotations.NullMarked;
