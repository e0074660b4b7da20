package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Args;
import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Lexer.Token;
import io.warmpath.tokens.jinja.Lexer.TokenType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Expressions, in Jinja's order of binding: conditional, or, and, not, comparison, sums, {@code ~},
 * products, {@code **}, signs, then filters, tests, subscripts and calls.
 */
final class ExpressionParser {
    /** Parentheses within parentheses; Python's own parser gives up soon after. */
    private static final int MAX_DEPTH = 120;

    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
    private static final Set<String> PRODUCTS = Set.of("*", "/", "//", "%");
    private static final Set<String> CONSTANTS =
            Set.of("true", "false", "none", "True", "False", "None");

    private final TokenStream in;
    private int depth;

    ExpressionParser(TokenStream in) {
        this.in = in;
    }

    static boolean isConstant(String name) {
        return CONSTANTS.contains(name);
    }

    Expr expression(boolean withChoice) {
        if (++depth > MAX_DEPTH) {
            throw TemplateException.unsupported(
                    in.line(), "an expression of over " + MAX_DEPTH + " levels");
        }
        Expr e = withChoice ? choice() : or();
        depth--;
        return e;
    }

    private Expr choice() {
        int line = in.line();
        Expr first = or();
        while (in.skipName("if")) {
            Expr test = or();
            Expr otherwise = null;
            if (in.skipName("else")) {
                otherwise = expression(true);
            }
            first = new Ast.Choice(test, first, otherwise, line);
            line = in.line();
        }
        return first;
    }

    private Expr or() {
        int line = in.line();
        Expr left = and();
        while (in.skipName("or")) {
            left = new Ast.Or(left, and(), line);
        }
        return left;
    }

    private Expr and() {
        int line = in.line();
        Expr left = not();
        while (in.skipName("and")) {
            left = new Ast.And(left, not(), line);
        }
        return left;
    }

    private Expr not() {
        int nots = 0;
        int line = in.line();
        while (in.skipName("not")) {
            nots++;
        }
        Expr e = comparison();
        // An even number of them is still a boolean.
        for (int i = 0; i < Math.min(nots, 2 + nots % 2); i++) {
            e = new Ast.Not(e, line);
        }
        return e;
    }

    private Expr comparison() {
        int line = in.line();
        Expr first = sum();
        List<String> ops = new ArrayList<>();
        List<Expr> rest = new ArrayList<>();
        while (true) {
            Token t = in.current();
            if (t.type() == TokenType.OPERATOR && COMPARISONS.contains(t.text())) {
                ops.add(in.next().text());
            } else if (in.skipName("in")) {
                ops.add("in");
            } else if (in.isName("not") && in.look().is(TokenType.NAME, "in")) {
                in.next();
                in.next();
                ops.add("not in");
            } else {
                break;
            }
            rest.add(sum());
        }
        return ops.isEmpty() ? first : new Ast.Compare(first, ops, rest, line);
    }

    private Expr sum() {
        int line = in.line();
        Expr left = concat();
        while (in.isOp("+") || in.isOp("-")) {
            String op = in.next().text();
            left = new Ast.Binary(op, left, concat(), line);
        }
        return left;
    }

    private Expr concat() {
        int line = in.line();
        Expr first = product();
        if (!in.isOp("~")) {
            return first;
        }
        List<Expr> parts = new ArrayList<>();
        parts.add(first);
        while (in.skipOp("~")) {
            parts.add(product());
        }
        return new Ast.Concat(parts, line);
    }

    private Expr product() {
        int line = in.line();
        Expr left = power();
        while (in.current().type() == TokenType.OPERATOR
                && PRODUCTS.contains(in.current().text())) {
            String op = in.next().text();
            left = new Ast.Binary(op, left, power(), line);
        }
        return left;
    }

    private Expr power() {
        int line = in.line();
        Expr left = unary(true);
        while (in.skipOp("**")) {
            left = new Ast.Binary("**", left, unary(true), line);
        }
        return left;
    }

    private Expr unary(boolean withFilters) {
        if (++depth > MAX_DEPTH) {
            throw TemplateException.unsupported(
                    in.line(), "an expression of over " + MAX_DEPTH + " levels");
        }
        int line = in.line();
        Expr e;
        if (in.isOp("-") || in.isOp("+")) {
            String op = in.next().text();
            e = new Ast.Sign(op, unary(false), line);
        } else {
            e = primary();
        }
        e = postfix(e);
        if (withFilters) {
            e = filters(e);
        }
        depth--;
        return e;
    }

    Expr primary() {
        Token t = in.current();
        switch (t.type()) {
            case NAME -> {
                in.next();
                return switch (t.text()) {
                    case "true", "True" -> new Ast.Const(true, t.line());
                    case "false", "False" -> new Ast.Const(false, t.line());
                    case "none", "None" -> new Ast.Const(None.NONE, t.line());
                    default -> new Ast.Name(t.text(), t.line());
                };
            }
            case STRING -> {
                StringBuilder value = new StringBuilder();
                while (in.current().type() == TokenType.STRING) {
                    value.append(in.next().text());
                }
                String text = value.toString();
                return new Ast.Const(text.equals(t.text()) ? t.text() : text, t.line());
            }
            case INTEGER, FLOAT -> {
                in.next();
                return new Ast.Const(t.number(), t.line());
            }
            default -> {
                if (in.skipOp("(")) {
                    Expr e = tuple(true, true, "");
                    in.expectOp(")");
                    return e;
                }
                if (in.isOp("[")) {
                    return list();
                }
                if (in.isOp("{")) {
                    return dict();
                }
                throw TemplateException.syntax(t.line(), "unexpected " + in.found());
            }
        }
    }

    /**
     * One expression, or several with commas between.
     *
     * @param endName a name that ends it, such as {@code recursive}; empty: none
     */
    Expr tuple(boolean withChoice, boolean parentheses, String endName) {
        int line = in.line();
        List<Expr> items = new ArrayList<>();
        boolean isTuple = false;
        while (true) {
            if (!items.isEmpty()) {
                in.expectOp(",");
            }
            if (endsTuple(endName)) {
                break;
            }
            items.add(expression(withChoice));
            if (!in.isOp(",")) {
                break;
            }
            isTuple = true;
        }
        if (!isTuple) {
            if (!items.isEmpty()) {
                return items.get(0);
            }
            if (!parentheses) {
                throw in.unexpected("an expression");
            }
        }
        return new Ast.TupleOf(items, line);
    }

    private boolean endsTuple(String endName) {
        TokenType type = in.current().type();
        return type == TokenType.VARIABLE_END
                || type == TokenType.BLOCK_END
                || in.isOp(")")
                || (!endName.isEmpty() && in.isName(endName));
    }

    private Expr list() {
        int line = in.line();
        in.expectOp("[");
        List<Expr> items = new ArrayList<>();
        while (!in.isOp("]")) {
            if (!items.isEmpty()) {
                in.expectOp(",");
                if (in.isOp("]")) {
                    break;
                }
            }
            items.add(expression(true));
        }
        in.expectOp("]");
        return new Ast.ListOf(items, line);
    }

    private Expr dict() {
        int line = in.line();
        in.expectOp("{");
        List<Expr> keys = new ArrayList<>();
        List<Expr> values = new ArrayList<>();
        while (!in.isOp("}")) {
            if (!keys.isEmpty()) {
                in.expectOp(",");
                if (in.isOp("}")) {
                    break;
                }
            }
            keys.add(expression(true));
            in.expectOp(":");
            values.add(expression(true));
        }
        in.expectOp("}");
        return new Ast.DictOf(keys, values, line);
    }

    private Expr postfix(Expr start) {
        Expr e = start;
        while (true) {
            if (in.isOp(".") || in.isOp("[")) {
                e = subscript(e);
            } else if (in.isOp("(")) {
                e = new Ast.Call(e, args(), in.line());
            } else {
                return e;
            }
        }
    }

    private Expr filters(Expr start) {
        Expr e = start;
        while (true) {
            if (in.isOp("|")) {
                in.next();
                e = filter(e);
            } else if (in.isName("is")) {
                e = test(e);
            } else if (in.isOp("(")) {
                e = new Ast.Call(e, args(), in.line());
            } else {
                return e;
            }
        }
    }

    /** One or more filters of a block; the first name is next. */
    Expr blockFilters(@Nullable Expr of) {
        Expr e = filter(of);
        while (in.skipOp("|")) {
            e = filter(e);
        }
        return e;
    }

    private Expr filter(@Nullable Expr of) {
        int line = in.line();
        String name = dotted();
        Args args = in.isOp("(") ? args() : Args.NONE;
        return new Ast.Filter(of, name, args, line);
    }

    private String dotted() {
        StringBuilder name = new StringBuilder(in.expectName());
        while (in.skipOp(".")) {
            name.append('.').append(in.expectName());
        }
        return name.toString();
    }

    private Expr test(Expr of) {
        int line = in.next().line();
        boolean negated = in.skipName("not");
        String name = dotted();
        Args args = Args.NONE;
        if (in.isOp("(")) {
            args = args();
        } else if (startsArgument()) {
            if (in.isName("is")) {
                throw TemplateException.syntax(line, "tests cannot be chained with is");
            }
            Expr arg = postfix(primary());
            args = new Args(List.of(arg), List.of(), List.of(), null, null);
        }
        Expr test = new Ast.Test(of, name, args, line);
        return negated ? new Ast.Not(test, line) : test;
    }

    private boolean startsArgument() {
        return switch (in.current().type()) {
            case NAME -> !in.isName("else") && !in.isName("or") && !in.isName("and");
            case STRING, INTEGER, FLOAT -> true;
            default -> in.isOp("[") || in.isOp("{");
        };
    }

    private Expr subscript(Expr of) {
        int line = in.line();
        if (in.skipOp(".")) {
            Token t = in.next();
            return switch (t.type()) {
                case NAME -> new Ast.Attribute(of, t.text(), line);
                case INTEGER -> new Ast.Item(of, new Ast.Const(t.number(), line), line);
                default -> throw TemplateException.syntax(line, "expected a name after '.'");
            };
        }
        in.expectOp("[");
        List<Expr> keys = new ArrayList<>();
        while (!in.isOp("]")) {
            if (!keys.isEmpty()) {
                in.expectOp(",");
            }
            keys.add(key(of, line));
        }
        in.expectOp("]");
        if (keys.size() == 1) {
            Expr key = keys.get(0);
            return key instanceof Ast.Slice ? key : new Ast.Item(of, key, line);
        }
        if (keys.stream().anyMatch(Ast.Slice.class::isInstance)) {
            throw TemplateException.unsupported(line, "a slice beside other subscripts");
        }
        return new Ast.Item(of, new Ast.TupleOf(keys, line), line);
    }

    /** A key, or the whole slice. */
    private Expr key(Expr of, int line) {
        Expr start = null;
        if (!in.isOp(":")) {
            start = expression(true);
            if (!in.isOp(":")) {
                return start;
            }
        }
        in.expectOp(":");
        Expr stop = in.isOp(":") || endsKey() ? null : expression(true);
        Expr step = in.skipOp(":") && !endsKey() ? expression(true) : null;
        return new Ast.Slice(of, start, stop, step, line);
    }

    private boolean endsKey() {
        return in.isOp("]") || in.isOp(",");
    }

    Args args() {
        int line = in.line();
        in.expectOp("(");
        List<Expr> positional = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<Expr> named = new ArrayList<>();
        Expr star = null;
        Expr stars = null;
        boolean first = true;
        while (!in.isOp(")")) {
            if (!first) {
                in.expectOp(",");
                if (in.isOp(")")) {
                    break;
                }
            }
            first = false;
            boolean inOrder;
            if (in.skipOp("*")) {
                inOrder = star == null && stars == null;
                star = expression(true);
            } else if (in.skipOp("**")) {
                inOrder = stars == null;
                stars = expression(true);
            } else if (in.current().type() == TokenType.NAME
                    && in.look().is(TokenType.OPERATOR, "=")) {
                String name = in.next().text();
                in.next();
                inOrder = stars == null && !names.contains(name);
                names.add(name);
                named.add(expression(true));
            } else {
                inOrder = star == null && stars == null && names.isEmpty();
                positional.add(expression(true));
            }
            if (!inOrder) {
                throw TemplateException.syntax(line, "arguments of a call in a wrong order");
            }
        }
        in.expectOp(")");
        return new Args(positional, names, named, star, stars);
    }
}
