/**
 * What a client gets: the answer as it goes out, what is held back of it, and what is added to it.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.answer;
