/**
 * What the product is made of, against a database of known vulnerabilities (OSV). Reads lists of
 * components (CycloneDX) and records as they are given; asks nobody. One thread.
 */
@NullMarked
package io.warmpath.audit;

import org.jspecify.annotations.NullMarked;
