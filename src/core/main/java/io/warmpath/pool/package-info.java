/**
 * The shared pool: which pages of a prompt any worker could fetch, and how engines name them there.
 * JDK only.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.pool;
