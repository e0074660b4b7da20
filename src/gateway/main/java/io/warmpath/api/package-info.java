/** HTTP surface: OpenAI and admin endpoints, and the one error mapper. */
@NullMarked
package io.warmpath.api;

import org.jspecify.annotations.NullMarked;
