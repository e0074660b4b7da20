/**
 * OpenAI's API: a request from its body to its start at an engine, and what its answer says beside
 * the engine's.
 */
@NullMarked
package io.warmpath.api.inference;

import org.jspecify.annotations.NullMarked;
