/** Keys of models: tokenizers, chat templates, what engines are asked. */
@NullMarked
package io.warmpath.config.tokens;

import org.jspecify.annotations.NullMarked;
