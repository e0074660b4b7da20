/** Which prefixes many prompts had lately, told from a sample of prompts. */
@NullMarked
package io.warmpath.hot;

import org.jspecify.annotations.NullMarked;
