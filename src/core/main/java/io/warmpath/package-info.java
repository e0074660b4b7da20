/** Warmpath: a KV-cache-aware front end for fleets of LLM engines. */
@org.jspecify.annotations.NullMarked
package io.warmpath;
