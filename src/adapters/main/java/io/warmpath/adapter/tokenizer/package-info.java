/** Tokenizers read from tokenizer.json. */
@NullMarked
package io.warmpath.adapter.tokenizer;

import org.jspecify.annotations.NullMarked;
