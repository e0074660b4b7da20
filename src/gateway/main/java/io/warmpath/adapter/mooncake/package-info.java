/** The shared pool's list of keys, as a Mooncake master's admin port tells it over HTTP. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.mooncake;
