/** What can go wrong, its HTTP status, and whether a retry is safe. JDK only. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fault;
