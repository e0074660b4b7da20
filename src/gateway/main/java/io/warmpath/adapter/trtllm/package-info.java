/** TensorRT-LLM's own server: what it tells about itself, and its KV events. */
@NullMarked
package io.warmpath.adapter.trtllm;

import org.jspecify.annotations.NullMarked;
