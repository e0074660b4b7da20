/**
 * What the product is made of, against a database of known vulnerabilities (OSV). Reads lists of
 * components (CycloneDX) and records as they are given; asks nobody. One thread.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.audit;
