package io.warmpath.config.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.config.setting.SettingCatalog;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandLineTest {
    private final CommandLine commandLine = new CommandLine(SettingCatalog.read());

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--http-port 9000              | warmpath.http.port                    | 9000",
                "--http-port=9000              | warmpath.http.port                    | 9000",
                "--port 9000                   | warmpath.http.port                    | 9000",
                "--page-size 64                | warmpath.fleet.default-block-size     | 64",
                "--http-host 127.0.0.1         | warmpath.http.host                    | 127.0.0.1",
                "--router-mode round-robin     | warmpath.router.mode                  | round-robin",
                "--router-kv-overlap-score-credit 2 | warmpath.router.overlap-score-credit | 2",
                "--router-kv-overlap-score-credit-decay 1 | warmpath.router.overlap-score-credit-decay | 1",
                "--router-prefill-load-scale 4 | warmpath.router.prefill-load-scale | 4",
                "--router-decode-active-request-weight 64 | warmpath.router.decode-active-request-weight | 64",
                "--agentic | warmpath.router.agentic | true",
                "--load-aware | warmpath.router.load-aware | true",
                "--kv-overlap-score-weight 2.5 | warmpath.router.overlap-score-weight  | 2.5",
                "--router-kv-overlap-score-weight 0 | warmpath.router.overlap-score-weight | 0",
                "--router-temperature 0.5      | warmpath.router.temperature           | 0.5",
                "--router-host-cache-hit-weight 0.5 | warmpath.router.host-cache-hit-weight | 0.5",
                "--no-kv-events                | warmpath.router.use-kv-events         | false",
                "--no-router-kv-events         | warmpath.router.use-kv-events         | false",
                "--router-kv-events            | warmpath.router.use-kv-events         | true",
                "--kv-events=false             | warmpath.router.use-kv-events         | false",
                "--kv-cache-block-size 64      | warmpath.fleet.default-block-size     | 64",
                "--config gateway.yaml         | warmpath.config-file                  | gateway.yaml",
                "--tokenizer /m/tokenizer.json | warmpath.tokens.default-tokenizer | /m/tokenizer.json",
                "--tokenizer a/b-1.5=/t.json   | warmpath.tokens.tokenizers.\"a/b-1.5\" | /t.json",
            })
    void a_flag_sets_its_key(String args, String key, String value) throws UsageException {
        assertEquals(Map.of(key, value), commandLine.parse(List.of(args.split(" ", -1))));
    }

    @Test
    void workers_add_up_over_repeated_flags() throws UsageException {
        assertEquals(
                Map.of("warmpath.worker-urls", "http://a:1,http://b:1,http://c:1"),
                commandLine.parse(
                        List.of("--worker", "http://a:1", "--workers", "http://b:1,http://c:1")));
    }

    @Test
    void of_a_plain_flag_given_twice_the_last_wins() throws UsageException {
        assertEquals(
                Map.of("warmpath.http.port", "2"),
                commandLine.parse(List.of("--http-port", "1", "--http-port", "2")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--http-prot 1      | Unknown flag --http-prot. Did you mean --http-port? `serve --help all` lists all of them.",
                "--frobnicate       | Unknown flag --frobnicate. `serve --help all` lists all of them.",
                "8000               | `8000` is not a flag; `serve --help all` lists all of them.",
                "--http-port        | --http-port needs a value: a whole number from 0 to 65535.",
                "--http-port 65536  | --http-port 65536: must be a whole number from 0 to 65535.",
                "--http-port -1     | --http-port -1: must be a whole number from 0 to 65535.",
                "--http-port 80a    | --http-port 80a: must be a whole number from 0 to 65535.",
                "--router-temperature NaN | --router-temperature NaN: must be a number from 0 to 1000000.",
                "--router-mode best | --router-mode best: must be one of kv, random, round-robin, power-of-two, least-loaded, direct, vllm-cache-aware.",
                "--no-kv-events=1   | --no-kv-events takes no value.",
                "--router-kv-events=maybe | --router-kv-events maybe: must be true or false.",
                "--shutdown-grace 3x | --shutdown-grace 3x: must be a duration such as 250ms, 2s or 5m up to 1h.",
                "--http-max-body-size 2G | --http-max-body-size 2G: must be a size such as 64K or 64M from 1K to 1G.",
                "--tokenizer model= | --tokenizer model=: must be MODEL=FILE or FILE.",
            })
    void what_cannot_be_followed_is_refused_in_one_sentence(String args, String message) {
        UsageException e =
                assertThrows(
                        UsageException.class,
                        () -> commandLine.parse(List.of(args.split(" ", -1))));
        assertEquals(message, e.getMessage());
    }

    @Test
    void help_is_found_wherever_it_stands() {
        assertEquals(Optional.of(""), CommandLine.helpTopic(List.of("--http-port", "1", "--help")));
        assertEquals(Optional.of("http"), CommandLine.helpTopic(List.of("--help", "http")));
        assertEquals(Optional.of("http"), CommandLine.helpTopic(List.of("--help=http")));
        assertEquals(Optional.of(""), CommandLine.helpTopic(List.of("-h", "--http-port", "1")));
        assertEquals(Optional.empty(), CommandLine.helpTopic(List.of("--http-port", "1")));
    }

    @Test
    void distance_counts_edits() {
        assertEquals(3, Nearest.distance("kitten", "sitting"));
        assertEquals(4, Nearest.distance("", "four"));
    }
}
