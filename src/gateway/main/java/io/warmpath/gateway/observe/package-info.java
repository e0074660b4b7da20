/** What is told of requests outside: meters, spans, and the log of decisions. */
@NullMarked
package io.warmpath.gateway.observe;

import org.jspecify.annotations.NullMarked;
