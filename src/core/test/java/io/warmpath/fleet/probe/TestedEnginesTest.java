package io.warmpath.fleet.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestedEnginesTest {
    @ParameterizedTest
    @CsvSource({
        "SGLANG, 0.5.23,          true",
        "SGLANG, v0.5.23.post1,   true",
        "VLLM,   0.32.0+cpu,      true",
        "VLLM,   0.32.0-rc1,      true",
        "VLLM,   0.32.01,         false",
        "VLLM,   0.32,            false",
        "VLLM,   0.5.23,          false",
        "VLLM,   '',              false",
        "OPENAI, 0.5.23,          false",
        "OPENAI, '',              false",
    })
    void builds_of_a_tested_version_are_tested(EngineKind kind, String said, boolean tested) {
        assertEquals(tested, TestedEngines.isTested(kind, said));
    }

    @Test
    void the_document_names_the_same_versions() throws IOException {
        String text = Files.readString(Path.of("src/docs/how-to/operations.md"));
        assertTrue(
                text.contains(
                        "SGLang "
                                + TestedEngines.version(EngineKind.SGLANG)
                                + " and vLLM "
                                + TestedEngines.version(EngineKind.VLLM)));
    }
}
