/** Prompt to token ids: chat template, tokenizer port, segment cache. */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens;
