/** Warmpath: a KV-cache-aware front end for fleets of LLM engines. */
@NullMarked
package io.warmpath;

import org.jspecify.annotations.NullMarked;
