/** What engines' connectors say of a shared pool. */
@NullMarked
package io.warmpath.fleet.metadata;

import org.jspecify.annotations.NullMarked;
