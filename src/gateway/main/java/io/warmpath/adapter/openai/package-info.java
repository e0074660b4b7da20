/** What every OpenAI-compatible worker says about itself. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.openai;
