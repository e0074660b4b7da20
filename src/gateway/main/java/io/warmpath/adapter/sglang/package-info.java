/** What an SGLang worker says about itself. */
@NullMarked
package io.warmpath.adapter.sglang;

import org.jspecify.annotations.NullMarked;
