package io.warmpath.lab;

/** What {@code lab --help} prints. */
final class LabHelp {
    static final String TEXT =
            """
            Usage: ./warmpath lab COMMAND [ARGUMENTS]

            Plays workloads against a fleet of engines in virtual time, with the product's own
            decision, load and index code inside, and with other routers' rules beside it.
            Trust ratios between policies, not milliseconds. No GPU, nothing is sent anywhere.

              list                   the scenarios and the policies
              run SCENARIO...        plays them; `all`: those of the standing table
                                     `unseen`: those that no constant was chosen on;
                                     `weak`: those on which the cost `latency` lost most
              routing                what routers were complained about, beside the rules that
                                     do it, each with its ratio
              capacity SCENARIO...   finds the requests/s at which each policy just keeps limits
                                     for TTFT and ITL, and which of them binds
              size SCENARIO...       finds how few engines keep it at the scenario's loads
              roles SCENARIO...      plays each number of engines that compute prompts for the
                                     others, and none, and says which serves it best; of the
                                     last hour: --from-log decisions.jsonl --last 60
              pressure SCENARIO...   what the policy of --ours takes the fleet's pressure to be,
                                     below and above the rate at which queues grow without end
              tune SCENARIO...       searches the weights of a cost on a part of the workload and
                                     reports on the rest; ends with YAML for the file of
                                     --config and the gain, or with `keep`
              model PRESET           prints an engine model, 8b or 70b, as --engine-file reads it
              compare A B            tells whether two files of --json differ by more than seeds do

              --policies A,B   which (kv,latency,least-loaded,round-robin); `all` is every one;
                               pair=4@25, smg-pd=4, dynamo-pd=4, dynamo-cond=4, llm-d-pd=4: four
                               engines compute prompts for the others, at 25 Gbit/s (100)
              --loads X,Y      parts of the scenario's capacity (0.7,0.9)
              --seeds N        draws 1 to N of each scenario (1)
              --routers N      gateways that take turns (1)
              --sync MS        after which they hear of each other's requests (never)
              --sync-limit MS  later news, or none for so long, and a router goes by its own (50)
              --fault F        freeze@30s:2:10s, speed@0s:2:0.5, leave@50%:2, join@25%, cut@30s:5s:
                               engine 2 stands still for 10 s, is half as fast, gets nothing
                               new; the fleet's last engine comes then; routers' news are lost
                               for 5 s. Times from the start or in parts of the arrivals' time;
                               repeatable
              --pool X         a pool that all engines write to and fetch from, times the
                               devices' memory (0)
              --pool-rate N    tokens/s that an engine fetches from it (the model's)
              --lag MS         after which engines' cache events are known (10)
              --one-piece X    part of the requests whose answers are not streamed: no router sees
                               their first token (0)
              --ours A         the policy that peers' rules are compared with (latency)
              --json FILE      all results, a JSON line each
              --csv FILE       the same as a table
              --html FILE      the same as a page with plots, complete in itself
              --quiet          no progress
            Of `capacity`, and of `run` and `roles` for what it counts as goodput (good/s):
              --ttft MS        limit for the time to the first token (the scenario's)
              --itl MS         limit for a request's mean time between tokens (50)
            Of `capacity`:
              --percentile P   of requests that keep each of them: 50, 90, 95 or 99 (95)
              --svg FILE       the requests/s as bars
            Of `roles`:
              --apart          engines of a role do nothing else, as SGLang's; else any can do
                               whole requests, too, as vLLM's
              --transfer-rate N  Gbit/s between two engines (100)
            Of `tune`, which has 4 seeds unless told otherwise:
              --policy P       latency, the cost in milliseconds, or kv, the one in blocks (latency)
              --budget N       plays of the search (150)
              --train X        part of the conversations to search on (0.5)
              --goal G         what to make small: ttft (mean), p99 (of ttft) or e2e (mean) (ttft)

            A SCENARIO may be a file: JSON lines or CSV with timestamp (ms), input_length,
            output_length, hash_ids, session; .gz or not. Its load 1 is the recorded rate.
              --model 8b|70b   engines (8b)                --engines N       how many (8)
              --engine-file F  engines of your own, YAML; also before the standing scenarios
              --host X         host memory, times the device's (0)
              --slo MS         limit for `capacity`, `size` (4000)
              --block-tokens N tokens of a hash (512)
              --closed         requests wait for their session's last answer
            --from-log FILE is what a gateway wrote with --explain-decisions-file, .gz or not: a
            SCENARIO of as many engines as it had; --loads (1) are parts of the recorded rate.
              --of-model NAME  only its requests
              --last N         only those of its last N minutes
              --help           this text

            Example: ./warmpath lab run conv --policies all --loads 0.7 --csv conv.csv
            The same arguments give the same results, byte for byte. More: src/docs/how-to/lab.md.
            """;

    private LabHelp() {}
}
