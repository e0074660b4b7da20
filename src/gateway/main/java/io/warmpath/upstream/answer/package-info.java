/**
 * Engines' answers: HTTP/1.1 taken apart, and events read along for first token, usage and text.
 */
@NullMarked
package io.warmpath.upstream.answer;

import org.jspecify.annotations.NullMarked;
