/** The lab: routing policies before a fleet of virtual engines. Nothing of the product uses it. */
@NullMarked
package io.warmpath.lab;

import org.jspecify.annotations.NullMarked;
