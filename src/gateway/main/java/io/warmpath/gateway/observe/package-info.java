/** What can be seen of requests from outside: meters, spans, and the log of decisions. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.observe;
