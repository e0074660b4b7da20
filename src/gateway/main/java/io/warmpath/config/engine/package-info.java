/** Keys about engines: workers and their sources, connections, health, retries, migration. */
@NullMarked
package io.warmpath.config.engine;

import org.jspecify.annotations.NullMarked;
