/** Questions to workers over the JDK's HTTP client. */
@NullMarked
package io.warmpath.adapter.enginehttp;

import org.jspecify.annotations.NullMarked;
