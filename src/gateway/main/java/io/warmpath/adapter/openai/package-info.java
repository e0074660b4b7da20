/** What every OpenAI-compatible worker says about itself. */
@NullMarked
package io.warmpath.adapter.openai;

import org.jspecify.annotations.NullMarked;
