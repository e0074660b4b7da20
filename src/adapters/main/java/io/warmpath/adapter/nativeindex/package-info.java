/** The prefix index over the native library, through JNA direct mapping. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.nativeindex;
