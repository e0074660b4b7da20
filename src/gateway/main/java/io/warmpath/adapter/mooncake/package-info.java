/** The shared pool's list of keys, as a Mooncake master's admin port tells it over HTTP. */
@NullMarked
package io.warmpath.adapter.mooncake;

import org.jspecify.annotations.NullMarked;
