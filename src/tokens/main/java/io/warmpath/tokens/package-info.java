/** Prompt to token ids: chat template, tokenizer port, segment cache. */
@NullMarked
package io.warmpath.tokens;

import org.jspecify.annotations.NullMarked;
