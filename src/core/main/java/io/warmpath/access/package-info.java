/** Who a client is and what it may do: keys, allow-lists, limits. No I/O. */
@org.jspecify.annotations.NullMarked
package io.warmpath.access;
