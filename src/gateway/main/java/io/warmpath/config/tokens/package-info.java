/** Keys of models: tokenizers, chat templates, what engines are asked. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.tokens;
