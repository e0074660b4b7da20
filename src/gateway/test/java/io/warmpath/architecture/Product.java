package io.warmpath.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/** The classes of all modules without their tests, read once per JVM: some seconds. */
final class Product {
    static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(place -> !place.contains("/test-classes/"))
                    .importPackages("io.warmpath");

    private Product() {}
}
