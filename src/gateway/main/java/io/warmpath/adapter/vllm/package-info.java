/** What a vLLM worker says about itself. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.vllm;
