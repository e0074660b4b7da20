/** Which prefixes many prompts had lately, told from a sample of prompts. */
@org.jspecify.annotations.NullMarked
package io.warmpath.hot;
