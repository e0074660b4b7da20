/**
 * Engines' answers: HTTP/1.1 taken apart, and events read along for first token, usage and text.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.upstream.answer;
