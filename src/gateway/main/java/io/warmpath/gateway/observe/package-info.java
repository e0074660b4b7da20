/** What can be seen of requests from outside: meters, spans, and the log of decisions. */
@NullMarked
package io.warmpath.gateway.observe;

import org.jspecify.annotations.NullMarked;
