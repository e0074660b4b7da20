/**
 * Named complaints about routers, played in virtual time: the product's own decision, load, index
 * and queue in front of a small model of engines.
 */
@NullMarked
package io.warmpath.routing.scenario;

import org.jspecify.annotations.NullMarked;
