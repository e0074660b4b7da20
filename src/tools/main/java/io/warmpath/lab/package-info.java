/** The lab: routing policies before a fleet of virtual engines. Nothing of the product uses it. */
@org.jspecify.annotations.NullMarked
package io.warmpath.lab;
