/** Tokenizers and chat templates: where a model comes from, the threads that tokenise. */
@NullMarked
package io.warmpath.wiring.tokens;

import org.jspecify.annotations.NullMarked;
