/** Engines' own tokenizers: {@code POST /tokenize}. */
@NullMarked
package io.warmpath.adapter.enginetokens;

import org.jspecify.annotations.NullMarked;
