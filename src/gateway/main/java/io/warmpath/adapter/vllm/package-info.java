/** What a vLLM worker says about itself. */
@NullMarked
package io.warmpath.adapter.vllm;

import org.jspecify.annotations.NullMarked;
