/** What can go wrong, its HTTP status, and whether a retry is safe. JDK only. */
@NullMarked
package io.warmpath.fault;

import org.jspecify.annotations.NullMarked;
