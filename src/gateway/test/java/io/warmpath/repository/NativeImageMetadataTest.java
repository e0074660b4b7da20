package io.warmpath.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.quarkus.runtime.shutdown.ShutdownRecorder;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What native code looks up by name is spelt right. A typing error here would show only in a native
 * executable, at the first call, as a crash.
 */
class NativeImageMetadataTest {
    private static final String FILE =
            "src/gateway/main/resources/META-INF/native-image/io.warmpath/warmpath/reachability-metadata.json";

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(
                            place ->
                                    !place.contains("/test-classes/")
                                            && !place.contains("/target/tools/"))
                    .importPackages("io.warmpath");

    private static final Set<String> BY_NAME =
            Set.of(
                    "java.lang.Class.forName",
                    "java.lang.Class.getDeclaredMethods",
                    "java.lang.Class.getDeclaredMethod",
                    "java.lang.Class.getMethods",
                    "java.lang.Class.getMethod",
                    "java.lang.Class.getDeclaredFields",
                    "java.lang.Class.getDeclaredField",
                    "java.lang.Class.getRecordComponents",
                    "java.lang.Class.getDeclaredConstructor",
                    "java.lang.Class.getConstructor",
                    "java.lang.ClassLoader.loadClass",
                    "java.lang.reflect.Proxy.newProxyInstance",
                    "java.lang.invoke.MethodHandles$Lookup.findVirtual",
                    "java.lang.invoke.MethodHandles$Lookup.findStatic",
                    "java.util.ServiceLoader.load");

    private static final Map<String, Class<?>> PRIMITIVES =
            Map.of(
                    "boolean", boolean.class,
                    "byte", byte.class,
                    "char", char.class,
                    "short", short.class,
                    "int", int.class,
                    "long", long.class,
                    "float", float.class,
                    "double", double.class);

    @Test
    void every_listed_type_method_and_field_exists() throws IOException {
        List<String> wrong = new ArrayList<>();
        int checked = 0;
        for (JsonNode entry : entries()) {
            String name = entry.path("type").asText();
            try {
                Class<?> type = type(name);
                for (JsonNode method : entry.path("methods")) {
                    checked++;
                    if (!hasMethod(type, method)) {
                        wrong.add(name + ": " + method);
                    }
                }
                for (JsonNode field : entry.path("fields")) {
                    checked++;
                    if (!hasField(type, field.path("name").asText())) {
                        wrong.add(name + ": " + field);
                    }
                }
            } catch (ClassNotFoundException e) {
                wrong.add(name + ": " + e);
            }
        }
        assertTrue(checked > 60, "only " + checked + " members were checked");
        assertEquals(List.of(), wrong);
    }

    @Test
    void every_class_of_ours_with_native_methods_is_listed() throws IOException {
        Set<String> bindings =
                CLASSES.stream()
                        .filter(
                                c ->
                                        c.getMethods().stream()
                                                .anyMatch(
                                                        m ->
                                                                m.getModifiers()
                                                                        .contains(
                                                                                JavaModifier
                                                                                        .NATIVE)))
                        .map(JavaClass::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> listed = new TreeSet<>();
        for (JsonNode entry : entries()) {
            String name = entry.path("type").asText();
            if (name.startsWith("io.warmpath.") && entry.path("jniAccessible").asBoolean()) {
                listed.add(name);
                assertTrue(entry.path("allDeclaredMethods").asBoolean(), name + ": all methods");
            }
        }
        assertEquals(bindings, listed);
    }

    @Test
    void every_resource_of_ours_is_in_the_executable() throws IOException {
        List<PathMatcher> globs = new ArrayList<>();
        for (JsonNode resource : metadata().path("resources")) {
            globs.add(
                    FileSystems.getDefault()
                            .getPathMatcher("glob:" + resource.path("glob").asText()));
        }
        List<Path> left =
                Stream.of("core", "tokens", "adapters", "gateway")
                        .map(m -> Path.of("src", m, "main", "resources"))
                        .flatMap(
                                root ->
                                        RepositoryFiles.all().stream()
                                                .filter(f -> f.startsWith(root))
                                                .map(root::relativize))
                        // The build reads these itself.
                        .filter(f -> !f.startsWith("META-INF"))
                        .filter(f -> !f.equals(Path.of("application.properties")))
                        .filter(f -> !f.toString().endsWith(".md"))
                        .filter(f -> globs.stream().noneMatch(g -> g.matches(f)))
                        .toList();
        assertEquals(List.of(), left);
    }

    @Test
    void what_starts_at_run_time_is_on_the_class_path() throws IOException {
        Properties builder = new Properties();
        builder.load(
                new StringReader(
                        RepositoryFiles.text(
                                FILE.replace(
                                        "reachability-metadata.json", "native-image.properties"))));
        Set<String> names = new TreeSet<>();
        for (String option : builder.getProperty("Args").trim().split("\\s+", -1)) {
            String prefix = "--initialize-at-run-time=";
            assertTrue(option.startsWith(prefix), option);
            names.addAll(List.of(option.substring(prefix.length()).split(",", -1)));
        }
        assertTrue(names.contains("io.warmpath.adapter.nativeindex"), names.toString());
        for (String name : names) {
            assertTrue(isPackage(name), name + " is not there");
        }
        assertFalse(isPackage("io.warmpath.not.there"), "a control");
    }

    private static boolean isPackage(String name) {
        return NativeImageMetadataTest.class.getClassLoader().getResource(name.replace('.', '/'))
                != null;
    }

    /**
     * They are found by name: without these lines the executable goes on without them, silently.
     */
    @Test
    void every_service_of_ours_is_told() throws IOException {
        int checked = 0;
        for (Path file : RepositoryFiles.all()) {
            if (!file.toString().contains("/main/resources/META-INF/services/")
                    || file.startsWith("src/tools")) {
                continue;
            }
            String glob = "META-INF/services/" + file.getFileName();
            boolean listed = false;
            for (JsonNode resource : metadata().path("resources")) {
                listed |= resource.path("glob").asText().equals(glob);
            }
            assertTrue(listed, glob);
            for (String name : RepositoryFiles.text(file.toString()).lines().toList()) {
                if (!name.isBlank() && !name.startsWith("#")) {
                    checked++;
                    assertTrue(lists(name.strip(), "methods", "<init>"), name);
                }
            }
        }
        assertTrue(checked >= 2, "only " + checked + " were checked");
        assertFalse(lists("io.warmpath.NotThere", "methods", "<init>"), "a control");
    }

    @Test
    void every_service_that_is_told_is_offered() throws IOException {
        int checked = 0;
        for (JsonNode resource : metadata().path("resources")) {
            String glob = resource.path("glob").asText();
            if (glob.startsWith("META-INF/services/")) {
                checked++;
                assertTrue(
                        NativeImageMetadataTest.class.getClassLoader().getResource(glob) != null,
                        glob);
            }
        }
        assertTrue(checked > 2, "only " + checked + " were checked");
    }

    /**
     * What looks for classes or members by name, which the executable has to be told. Whoever adds
     * to this list thinks of the metadata, too: the end-to-end tests against the executable find
     * only what they happen to call.
     */
    @Test
    void what_is_looked_up_by_name_is_listed() throws IOException {
        assertEquals(
                Set.of(
                        "io.warmpath.net.server.ServerPipeline"
                                + " java.lang.invoke.MethodHandles$Lookup.findVirtual",
                        // The jars' main class, which no executable has.
                        "io.warmpath.start.Start java.lang.Class.forName",
                        "io.warmpath.start.Start java.lang.Class.getMethod",
                        "io.warmpath.wiring.GracefulStop java.lang.Class.getDeclaredField"),
                reflective(CLASSES));
        assertTrue(
                lists(ByteToMessageDecoder.class, "methods", "actualReadableBytes"), "the decoder");
        assertTrue(lists(ShutdownRecorder.class, "fields", "shutdownListeners"), "the stop");
        assertFalse(lists(ShutdownRecorder.class, "fields", "another"), "a control");
        // The control: what reads the settings' annotations for the tests.
        assertEquals(
                Set.of("io.warmpath.config.SettingReader java.lang.Class.getDeclaredMethods"),
                reflective(
                        new ClassFileImporter()
                                .importPath(
                                        Path.of(
                                                "target/gateway/test-classes/io/warmpath/config/"
                                                        + "SettingReader.class"))));
    }

    private static boolean lists(Class<?> type, String kind, String name) throws IOException {
        return lists(type.getName(), kind, name);
    }

    private static boolean lists(String type, String kind, String name) throws IOException {
        for (JsonNode entry : entries()) {
            if (entry.path("type").asText().equals(type)) {
                for (JsonNode member : entry.path(kind)) {
                    if (member.path("name").asText().equals(name)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private static Set<String> reflective(JavaClasses classes) {
        Set<String> reflective = new TreeSet<>();
        for (JavaClass c : classes) {
            for (JavaMethodCall call : c.getMethodCallsFromSelf()) {
                String target = call.getTargetOwner().getName() + "." + call.getName();
                if (BY_NAME.contains(target)) {
                    reflective.add(c.getName() + " " + target);
                }
            }
        }
        return reflective;
    }

    private static boolean hasField(Class<?> type, String name) {
        return Arrays.stream(type.getDeclaredFields()).anyMatch(f -> f.getName().equals(name));
    }

    private static boolean hasMethod(Class<?> type, JsonNode method) throws ClassNotFoundException {
        List<Class<?>> parameters = new ArrayList<>();
        for (JsonNode parameter : method.path("parameterTypes")) {
            parameters.add(type(parameter.asText()));
        }
        Class<?>[] signature = parameters.toArray(new Class<?>[0]);
        String name = method.path("name").asText();
        if (name.equals("<init>")) {
            return Arrays.stream(type.getDeclaredConstructors())
                    .anyMatch(c -> Arrays.equals(c.getParameterTypes(), signature));
        }
        // Native code finds inherited methods too.
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .flatMap(c -> Arrays.stream(c.getDeclaredMethods()))
                .filter(m -> m.getName().equals(name))
                .anyMatch(m -> Arrays.equals(m.getParameterTypes(), signature));
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        Class<?> primitive = PRIMITIVES.get(name);
        if (primitive != null) {
            return primitive;
        }
        return name.endsWith("[]")
                ? type(name.substring(0, name.length() - 2)).arrayType()
                : Class.forName(name, false, NativeImageMetadataTest.class.getClassLoader());
    }

    private static JsonNode entries() throws IOException {
        return metadata().path("reflection");
    }

    private static JsonNode metadata() throws IOException {
        return new ObjectMapper().readTree(RepositoryFiles.text(FILE));
    }
}
