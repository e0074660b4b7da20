/** Tokenizers read from tokenizer.json. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.tokenizer;
