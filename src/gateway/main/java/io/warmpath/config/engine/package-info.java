/** Keys about engines: workers and their sources, connections, health, retries, migration. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.engine;
