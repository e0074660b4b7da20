package io.warmpath.tokens.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFoldersTest {
    private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";
    private static final String OLDER = "f".repeat(40);

    @TempDir Path dir;

    private Path model(String path) throws IOException {
        Path folder = Files.createDirectories(dir.resolve(path));
        Files.writeString(folder.resolve("tokenizer.json"), "{}");
        return folder;
    }

    private void ref(String cache, String name, String commit) throws IOException {
        Path refs = Files.createDirectories(dir.resolve(cache + "/models--org--tiny/refs"));
        Files.writeString(refs.resolve(name), commit + "\n");
    }

    private Optional<Path> find(String where) {
        return new ModelFolders(List.of(dir.resolve("none"), dir.resolve("hub"))).find(where, "");
    }

    @Test
    void an_absolute_path_is_itself_if_there_is_a_tokenizer() throws IOException {
        Path folder = model("models/tiny");
        assertEquals(Optional.of(folder), find(folder.toString()));
        assertEquals(Optional.of(folder), find(folder + "/"));
        assertEquals(Optional.empty(), find(dir.resolve("models").toString()));
        assertEquals(Optional.empty(), find(folder.resolve("tokenizer.json").toString()));
    }

    @Test
    void a_hubs_model_is_the_snapshot_of_its_revision() throws IOException {
        Path main = model("hub/models--org--tiny/snapshots/" + COMMIT);
        Path older = model("hub/models--org--tiny/snapshots/" + OLDER);
        ref("hub", "main", COMMIT);
        ref("hub", "v1", OLDER);
        ModelFolders folders = new ModelFolders(List.of(dir.resolve("hub")));
        assertEquals(Optional.of(main), folders.find("org/tiny", ""));
        assertEquals(Optional.of(older), folders.find("org/tiny", "v1"));
        assertEquals(Optional.of(older), folders.find("org/tiny", OLDER));
        assertEquals(Optional.empty(), folders.find("org/tiny", "v2"));
        assertEquals(Optional.empty(), folders.find("org/other", ""));
        assertEquals(Optional.empty(), folders.find("tiny", ""));
    }

    @Test
    void a_branch_that_is_no_commit_leads_nowhere() throws IOException {
        model("outside");
        ref("hub", "main", "../../../outside");
        assertEquals(Optional.empty(), find("org/tiny"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "org/../tiny",
                "../tiny",
                "./tiny",
                "..",
                "org/tiny/more",
                "/",
                "org//tiny",
                "models/tiny",
                "org/ti\u0000ny",
                "org\\tiny",
                "-org/tiny",
                "~/tiny"
            })
    void anything_else_is_no_folder(String where) throws IOException {
        model("models/tiny");
        model("hub/models--org--tiny/snapshots/" + COMMIT);
        ref("hub", "main", COMMIT);
        assertEquals(Optional.empty(), find(where));
    }

    @Test
    void the_caches_are_those_of_the_hubs_library() throws IOException {
        ref("a", "main", COMMIT);
        ref("b/hub", "main", COMMIT);
        ref("home/.cache/huggingface/hub", "main", COMMIT);
        Path home = model("home/.cache/huggingface/hub/models--org--tiny/snapshots/" + COMMIT);
        Path b = model("b/hub/models--org--tiny/snapshots/" + COMMIT);
        Path a = model("a/models--org--tiny/snapshots/" + COMMIT);
        String at = dir.resolve("home").toString();
        Map<String, String> hfHome = Map.of("HF_HOME", dir.resolve("b").toString());
        assertEquals(Optional.of(home), ModelFolders.of(Map.of(), at).find("org/tiny", ""));
        assertEquals(Optional.of(b), ModelFolders.of(hfHome, at).find("org/tiny", ""));
        assertEquals(
                Optional.of(a),
                ModelFolders.of(
                                Map.of(
                                        "HF_HUB_CACHE",
                                        dir.resolve("a").toString(),
                                        "HF_HOME",
                                        dir.resolve("b").toString()),
                                at)
                        .find("org/tiny", ""));
    }
}
