package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A macro, or the body of a call block, together with the variables around it. */
final class MacroValue implements Callable {
    /**
     * What the compiler knows of it.
     *
     * @param name empty for a call block's body
     * @param body writes into the given text; its slots are filled with the arguments
     */
    record Code(
            String name,
            List<String> params,
            boolean caller,
            boolean kwargs,
            boolean varargs,
            Body body) {}

    /** Arguments are in the order params, caller, kwargs, varargs; null is a missing one. */
    interface Body {
        void write(Activation around, Run run, @Nullable Object[] arguments, StringBuilder out);
    }

    private final Code code;
    private final Activation around;

    MacroValue(Code code, Activation around) {
        this.code = code;
        this.around = around;
    }

    @Override
    public String name() {
        return code.name();
    }

    String repr() {
        return code.name().isEmpty() ? "<Macro anonymous>" : "<Macro " + Repr.of(code.name()) + ">";
    }

    @Nullable Object attribute(String name) {
        return switch (name) {
            case "name" -> code.name().isEmpty() ? None.NONE : code.name();
            case "arguments" -> new PyTuple(List.copyOf(code.params()));
            case "catch_kwargs" -> code.kwargs();
            case "catch_varargs" -> code.varargs();
            case "caller" -> code.caller();
            case "explicit_caller" -> code.params().contains("caller");
            default -> name.startsWith("_") ? Undefined.unsafe(this, name) : null;
        };
    }

    @Override
    public Object call(Run run, Arguments args) {
        List<String> params = code.params();
        List<Object> given = args.positional();
        Map<String, Object> named = new LinkedHashMap<>(args.named());
        List<@Nullable Object> values = new ArrayList<>();
        boolean foundCaller = given.size() >= params.size() && params.contains("caller");
        for (int i = 0; i < params.size(); i++) {
            if (i < given.size()) {
                values.add(given.get(i));
            } else {
                foundCaller |= params.get(i).equals("caller");
                values.add(named.remove(params.get(i)));
            }
        }
        if (code.caller() && !foundCaller) {
            Object caller = named.remove("caller");
            values.add(
                    caller == null || caller == None.NONE
                            ? Undefined.because("No caller defined")
                            : caller);
        }
        if (code.kwargs()) {
            PyDict rest = new PyDict();
            named.forEach(rest::put);
            values.add(rest);
        } else if (!named.isEmpty()) {
            throw TemplateException.failed(
                    "macro "
                            + Repr.of(code.name())
                            + " takes no keyword argument "
                            + Repr.of(named.keySet().iterator().next()));
        }
        int taken = Math.min(params.size(), given.size());
        if (code.varargs()) {
            values.add(new PyTuple(List.copyOf(given.subList(taken, given.size()))));
        } else if (given.size() > params.size()) {
            throw TemplateException.failed(
                    "macro %s takes not more than %s argument(s)"
                            .formatted(Repr.of(code.name()), params.size()));
        }
        StringBuilder out = new StringBuilder();
        run.enter();
        code.body().write(around, run, values.toArray(), out);
        run.leave();
        return out.toString();
    }
}
