/** Engines' own tokenizers: {@code POST /tokenize}. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.enginetokens;
