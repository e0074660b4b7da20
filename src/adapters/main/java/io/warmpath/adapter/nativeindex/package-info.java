/** The prefix index over the native library, through JNA direct mapping. */
@NullMarked
package io.warmpath.adapter.nativeindex;

import org.jspecify.annotations.NullMarked;
