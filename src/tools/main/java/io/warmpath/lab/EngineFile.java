package io.warmpath.lab;

import io.warmpath.plot.Plain;
import io.warmpath.sim.virtual.EngineModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * An engine model as YAML: a number per key, with its unit in the key's name. Where the gateway has
 * a key for the same ({@code warmpath.router.latency}), it has the same name here. Stateless.
 */
final class EngineFile {
    private static final String PRESET = "preset";
    private static final String NAME = "name";

    /**
     * @param unit of the key, in those of {@link EngineModel}
     * @param whole tokens and sequences are
     */
    private record Key(String name, double unit, boolean whole, boolean mayBeZero, String about) {}

    private static final List<Key> KEYS =
            List.of(
                    new Key("step-fixed-millis", 1, false, true, "of every step"),
                    new Key(
                            "step-weights-millis",
                            1,
                            false,
                            true,
                            "reading the weights; chunks and loading overlap with it"),
                    new Key(
                            "decode-micros-per-request",
                            1e-3,
                            false,
                            true,
                            "of a step, for each decoding sequence"),
                    new Key(
                            "decode-nanos-per-token",
                            1e-6,
                            false,
                            true,
                            "of a step, for each token of these"),
                    new Key("prefill-micros-per-token", 1e-3, false, true, "of a prompt token"),
                    new Key(
                            "prefill-nanos-per-pair",
                            1e-6,
                            false,
                            true,
                            "of a prompt token, for each token before it"),
                    new Key("kv-tokens", 1, true, false, "room for blocks on the device"),
                    new Key("host-tokens-per-second", 1, false, false, "from host memory"),
                    new Key("pool-tokens-per-second", 1, false, false, "from a pool"),
                    new Key("batch-tokens", 1, true, false, "of a step, prompts and decoding"),
                    new Key("sequences", 1, true, false, "that run at once"));

    private EngineFile() {}

    /**
     * @throws IllegalArgumentException naming the file, and the key that is wrong or missing
     */
    static EngineModel read(Path file) {
        try {
            LoaderOptions strict = new LoaderOptions();
            strict.setAllowDuplicateKeys(false);
            Object read = new Yaml(new SafeConstructor(strict)).load(Files.readString(file));
            if (!(read instanceof Map<?, ?> map)) {
                throw new IllegalArgumentException("keys and values are expected");
            }
            return model(map);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("there is no file " + file, e);
        } catch (IOException e) {
            throw new UncheckedIOException(file + " cannot be read", e);
        } catch (YAMLException | IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    private static EngineModel model(Map<?, ?> file) {
        Map<String, Double> values = new LinkedHashMap<>();
        String name = "own";
        Object preset = file.get(PRESET);
        if (preset != null) {
            values.putAll(values(preset(preset.toString())));
            name = "own, from " + preset;
        }
        List<String> known = new ArrayList<>(List.of(NAME, PRESET));
        KEYS.forEach(k -> known.add(k.name()));
        for (Map.Entry<?, ?> e : file.entrySet()) {
            String key = String.valueOf(e.getKey());
            if (!known.contains(key)) {
                throw new IllegalArgumentException(
                        "unknown key " + key + "; there are " + String.join(", ", known));
            }
        }
        for (Key key : KEYS) {
            Object given = file.get(key.name());
            if (given != null) {
                values.put(key.name(), number(key, given));
            } else if (!values.containsKey(key.name())) {
                throw new IllegalArgumentException(
                        key.name() + " is missing; set it, or a preset to start from");
            }
        }
        Object own = file.get(NAME);
        return made(own == null ? name : own.toString(), values);
    }

    static EngineModel preset(String name) {
        return EngineModel.preset(name)
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        PRESET
                                                + " "
                                                + name
                                                + ": there are "
                                                + String.join(
                                                        ", ",
                                                        EngineModel.PRESETS.stream()
                                                                .map(EngineModel::name)
                                                                .toList())));
    }

    private static double number(Key key, Object given) {
        if (!(given instanceof Number n)) {
            throw new IllegalArgumentException(key.name() + " must be a number, not " + given);
        }
        double value = n.doubleValue();
        boolean fits = value > 0 || (key.mayBeZero() && value == 0);
        if (!fits || Double.isInfinite(value)) {
            throw new IllegalArgumentException(
                    key.name()
                            + " is "
                            + given
                            + "; it must be "
                            + (key.mayBeZero() ? "at least 0" : "above 0"));
        }
        if (key.whole() && (value != Math.rint(value) || value > Integer.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    key.name() + " is " + given + "; it must be a whole number below 2^31");
        }
        return value;
    }

    private static EngineModel made(String name, Map<String, Double> values) {
        double[] v = new double[KEYS.size()];
        for (int i = 0; i < v.length; i++) {
            // By way of decimals: 52 nanoseconds are the same double as 52e-6 ms.
            v[i] =
                    new BigDecimal(
                                    values.getOrDefault(KEYS.get(i).name(), 0.0)
                                            * KEYS.get(i).unit())
                            .round(new MathContext(12))
                            .doubleValue();
        }
        return new EngineModel(
                name,
                v[0],
                v[1],
                v[2],
                v[3],
                v[4],
                v[5],
                (int) v[6],
                v[7],
                v[8],
                (int) v[9],
                (int) v[10]);
    }

    private static Map<String, Double> values(EngineModel m) {
        double[] v = {
            m.stepMillis(),
            m.weightsMillis(),
            m.millisPerSequence(),
            m.millisPerHeldToken(),
            m.millisPerToken(),
            m.millisPerPair(),
            m.kvTokens(),
            m.hostTokensPerSecond(),
            m.poolTokensPerSecond(),
            m.batchTokens(),
            m.sequences()
        };
        Map<String, Double> values = new LinkedHashMap<>();
        for (int i = 0; i < v.length; i++) {
            values.put(KEYS.get(i).name(), v[i] / KEYS.get(i).unit());
        }
        return values;
    }

    /** As {@link #read} takes it, with a word about every key. */
    static String write(EngineModel m) {
        StringBuilder out = new StringBuilder();
        out.append("# An engine of `warmpath lab`. With `preset: ")
                .append(m.name())
                .append("` a file may leave out what stays.\n");
        out.append(NAME).append(": ").append(m.name()).append('\n');
        values(m)
                .forEach(
                        (key, value) ->
                                out.append(
                                        Plain.plain(
                                                "%-38s # %s%n",
                                                key + ": " + plain(value), about(key))));
        return out.toString();
    }

    private static String about(String key) {
        return KEYS.stream().filter(k -> k.name().equals(key)).findFirst().orElseThrow().about();
    }

    private static String plain(double value) {
        return new BigDecimal(value).round(new MathContext(9)).stripTrailingZeros().toPlainString();
    }
}
