package io.warmpath.wiring.settings;

import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Policies;
import io.warmpath.admission.PolicyClass;
import io.warmpath.admission.PolicyFile;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.http.AuthConfig;
import io.warmpath.config.router.AdmissionConfig;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** Configuration to {@link AdmissionOptions}; reads the policy file once, at start. */
public final class AdmissionSetup {
    /**
     * With it, who sends little waits at most twice as long in an overload as alone, and engines
     * keep nine tenths of their throughput: {@code TurnsInVirtualTimeTest}.
     */
    static final double TURNS_THRESHOLD = 0.25;

    private static final double NO_QUEUE = 1e6;

    private AdmissionSetup() {}

    /**
     * @throws StartFailure that says what is wrong
     */
    public static AdmissionOptions options(WarmpathConfig config) {
        AdmissionConfig a = config.admission();
        if (a.policyConfig().isPresent() && a.queueThreshold().isPresent()) {
            throw new StartFailure(
                    "warmpath.admission.policy-config takes the place of queue-threshold; give one"
                            + " of them");
        }
        PolicyFile.Content policies =
                a.policyConfig()
                        .map(AdmissionSetup::read)
                        .orElseGet(() -> new PolicyFile.Content(single(config), Map.of()));
        int status = config.http().overloadStatus();
        if (status != 529 && status != 503) {
            throw new StartFailure("warmpath.http.overload-status must be 529 or 503");
        }
        return new AdmissionOptions(
                policies.policies(),
                policies.perModel(),
                new BusyThresholds(
                        number(a.activeDecodeBlocksThreshold()),
                        a.activePrefillTokensThreshold()
                                .map(OptionalLong::of)
                                .orElseGet(OptionalLong::empty),
                        number(a.activePrefillTokensThresholdFrac())),
                a.maxNumBatchedTokens(),
                a.overlapRefreshAfter(),
                status);
    }

    /**
     * Where clients can be told apart they have to take turns, and turns are taken where requests
     * wait: not in engines, that know no clients.
     */
    private static @Nullable Policies single(WarmpathConfig config) {
        AdmissionConfig a = config.admission();
        AuthConfig auth = config.auth();
        boolean known =
                auth.keyFile().isPresent()
                        || auth.keys().isPresent()
                        || auth.jwt().jwks().isPresent();
        double threshold = a.queueThreshold().orElse(known ? TURNS_THRESHOLD : NO_QUEUE);
        if (threshold >= NO_QUEUE) {
            return null;
        }
        long limit = a.queueLimitPerWorker();
        return Policies.single(
                a.queuePolicy(), threshold, limit == 0 ? PolicyClass.NO_LIMIT : limit);
    }

    private static PolicyFile.Content read(String file) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        try (Reader text = Files.newBufferedReader(Path.of(file))) {
            return PolicyFile.read(new Yaml(new SafeConstructor(strict)).load(text));
        } catch (IOException e) {
            throw new StartFailure("the file " + file + " (--router-policy-config) cannot be read");
        } catch (YAMLException | IllegalArgumentException e) {
            throw new StartFailure(
                    "the file " + file + " (--router-policy-config): " + e.getMessage());
        }
    }

    private static OptionalDouble number(Optional<Double> value) {
        return value.map(OptionalDouble::of).orElseGet(OptionalDouble::empty);
    }
}
