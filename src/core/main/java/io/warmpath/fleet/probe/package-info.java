/** Questions to engines and their answers: kind, health, load, models, pins. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet.probe;
