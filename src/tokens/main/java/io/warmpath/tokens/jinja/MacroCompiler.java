package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Compiler.Entry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Macros and the bodies of call blocks. */
final class MacroCompiler {
    private MacroCompiler() {}

    static MacroValue.Code compile(String name, Ast.Signature s, Scope scope) {
        Symbols.Unit unit = new Symbols.Unit(scope.symbols().unit);
        Symbols symbols = scope.symbols().macro(unit);
        declare(s, symbols);
        boolean caller = Names.readsFirst(s.body(), "caller");
        boolean kwargs = Names.readsFirst(s.body(), "kwargs") && !s.params().contains("kwargs");
        boolean varargs = Names.readsFirst(s.body(), "varargs") && !s.params().contains("varargs");
        List<String> all = new ArrayList<>(s.params());
        int explicit = s.params().indexOf("caller");
        if (caller && explicit >= 0 && explicit < s.params().size() - s.defaults().size()) {
            throw TemplateException.syntax(
                    s.line(), "the parameter caller must be left out or have a default");
        }
        if (caller && explicit < 0) {
            all.add("caller");
        }
        if (kwargs) {
            all.add("kwargs");
        }
        if (varargs) {
            all.add("varargs");
        }
        all.subList(s.params().size(), all.size()).forEach(symbols::parameter);
        declare(s, symbols); // as Jinja does: the second look sees the parameters
        int[] slots = all.stream().mapToInt(p -> Compiler.slot(p, symbols)).toArray();
        Scope inner = new Scope(symbols, false, false);
        Eval[] defaults = new Eval[s.params().size()];
        int first = s.params().size() - s.defaults().size();
        for (int i = 0; i < defaults.length; i++) {
            String param = s.params().get(i);
            defaults[i] =
                    i >= first
                            ? ExpressionCompiler.compile(s.defaults().get(i - first), inner)
                            : a ->
                                    Undefined.because(
                                            "parameter " + Repr.of(param) + " was not provided");
        }
        Exec body = Compiler.bodyOf(s.body(), inner);
        Entry[] enter = Compiler.entries(symbols);
        MacroValue.Body code =
                (around, run, arguments, out) -> {
                    Activation a = new Activation(unit.size(), around, run);
                    fill(a, slots, arguments);
                    Compiler.enter(enter, a);
                    for (int i = 0; i < defaults.length; i++) {
                        if (a.slots[slots[i]] == null) {
                            a.slots[slots[i]] = defaults[i].eval(a);
                        }
                    }
                    body.exec(a, out);
                };
        return new MacroValue.Code(name, List.copyOf(s.params()), caller, kwargs, varargs, code);
    }

    private static void fill(Activation a, int[] slots, @Nullable Object[] arguments) {
        for (int i = 0; i < slots.length; i++) {
            a.slots[slots[i]] = arguments[i];
        }
    }

    private static void declare(Ast.Signature s, Symbols symbols) {
        s.params().forEach(symbols::parameter);
        s.defaults().forEach(d -> Names.read(d, symbols::load));
        Names.declare(s.body(), symbols);
    }
}
