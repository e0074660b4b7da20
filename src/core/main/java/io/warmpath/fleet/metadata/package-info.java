/** What engines' connectors say of a shared pool. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet.metadata;
