/** Tokenizers and chat templates: where a model comes from, the threads that tokenise. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.tokens;
