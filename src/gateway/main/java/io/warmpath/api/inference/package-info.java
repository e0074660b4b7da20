/**
 * OpenAI's API: a request from its body to its start at an engine, and what its answer says beside
 * the engine's.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.inference;
