/** Questions to engines and their answers: kind, health, load, models, pins. */
@NullMarked
package io.warmpath.fleet.probe;

import org.jspecify.annotations.NullMarked;
