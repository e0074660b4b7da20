import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolvedModule;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;

/**
 * Prints the options of the builder's JVM, one a line: `java JvmArguments.java FOLDER`, where the
 * folder holds the builder's modules.
 *
 * <p>The builder reads the JDK's own classes, so every package of the JDK's modules is exported to
 * each of its modules.
 */
final class JvmArguments {
    public static void main(String[] arguments) {
        ModuleFinder builder = ModuleFinder.of(Path.of(arguments[0]), Path.of(arguments[1]));
        Set<String> readers = new TreeSet<>();
        for (ModuleReference module : builder.findAll()) {
            readers.add(module.descriptor().name());
        }
        // What a JVM with a class path has, and the builder.
        Set<String> roots = new TreeSet<>(Set.of(ROOT));
        for (ModuleReference module : ModuleFinder.ofSystem().findAll()) {
            if (module.descriptor().exports().stream().anyMatch(export -> !export.isQualified())) {
                roots.add(module.descriptor().name());
            }
        }
        Configuration resolved =
                Configuration.empty().resolveAndBind(builder, ModuleFinder.ofSystem(), roots);
        String to = String.join(",", readers);
        for (String option : OPTIONS) {
            System.out.println(option);
        }
        Set<ResolvedModule> inOrder = new TreeSet<>(Comparator.comparing(ResolvedModule::name));
        inOrder.addAll(resolved.modules());
        for (ResolvedModule module : inOrder) {
            ModuleDescriptor descriptor = module.reference().descriptor();
            if (readers.contains(descriptor.name())) {
                continue;
            }
            Set<String> hidden = new TreeSet<>(descriptor.packages());
            descriptor.exports().stream()
                    .filter(export -> !export.isQualified())
                    .forEach(export -> hidden.remove(export.source()));
            for (String name : hidden) {
                System.out.println("--add-exports=" + descriptor.name() + "/" + name + "=" + to);
            }
        }
    }

    private static final String ROOT = "org.graalvm.nativeimage.builder";

    private static final String[] OPTIONS = {
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+EnableJVMCI",
        "-XX:-UseJVMCICompiler",
        "-XX:+UseParallelGC",
        "-Xss10m",
        "-Djdk.internal.lambda.disableEagerInitialization=true",
        "-Dsubstratevm.HostLibC=glibc",
        "-Dorg.graalvm.version=25.0.2",
        // Quarkus wants it in one of the forms that it knows.
        "\"-Dorg.graalvm.vendorversion=GraalVM CE 25.0.2+10.1\"",
        "-Djava.system.class.loader=com.oracle.svm.hosted.NativeImageSystemClassLoader",
        "-Dorg.graalvm.nativeimage.imagecode=buildtime",
        "-Dcom.oracle.graalvm.isaot=true",
        "--add-modules=ALL-DEFAULT",
        "--enable-native-access=org.graalvm.nativeimage.builder",
    };
}
