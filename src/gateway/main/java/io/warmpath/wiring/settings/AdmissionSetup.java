package io.warmpath.wiring.settings;

import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Policies;
import io.warmpath.admission.PolicyFile;
import io.warmpath.config.WarmpathConfig;
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
                        .orElseGet(() -> new PolicyFile.Content(single(a), Map.of()));
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

    private static @Nullable Policies single(AdmissionConfig a) {
        return a.queueThreshold().map(t -> Policies.single(a.queuePolicy(), t)).orElse(null);
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
