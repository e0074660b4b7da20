/** Promises that the repository as a whole keeps: documents, manifests, hygiene. */
@NullMarked
package io.warmpath.repository;

import org.jspecify.annotations.NullMarked;
