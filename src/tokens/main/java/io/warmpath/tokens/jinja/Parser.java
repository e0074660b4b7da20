package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Ast.Expr;
import io.warmpath.tokens.jinja.Ast.Signature;
import io.warmpath.tokens.jinja.Ast.Stmt;
import io.warmpath.tokens.jinja.Ast.Target;
import io.warmpath.tokens.jinja.Lexer.Token;
import io.warmpath.tokens.jinja.Lexer.TokenType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Statements of a template to its syntax tree. One use. */
final class Parser {
    private static final int MAX_DEPTH = 60;

    /** Statements of Jinja that no chat template needs; refused by name. */
    private static final Set<String> REFUSED =
            Set.of("block", "extends", "print", "include", "from", "import", "with", "autoescape");

    private final TokenStream in;
    private final ExpressionParser expressions;
    private int depth;

    private Parser(TokenStream in) {
        this.in = in;
        expressions = new ExpressionParser(in);
    }

    static List<Stmt> parse(String source) {
        Parser parser = new Parser(new TokenStream(Lexer.tokens(source)));
        return parser.body(Set.of());
    }

    /** Statements up to a block tag with one of the names, which is then the current token. */
    private List<Stmt> body(Set<String> ends) {
        if (++depth > MAX_DEPTH) {
            throw TemplateException.unsupported(
                    in.line(), "nesting of over " + MAX_DEPTH + " statements");
        }
        List<Stmt> out = new ArrayList<>();
        while (in.current().type() != TokenType.EOF) {
            Token t = in.next();
            switch (t.type()) {
                case DATA -> out.add(new Ast.Text(t.text()));
                case VARIABLE_BEGIN -> {
                    out.add(new Ast.Print(expressions.tuple(true, false, "")));
                    in.expect(TokenType.VARIABLE_END);
                }
                case BLOCK_BEGIN -> {
                    if (in.current().type() == TokenType.NAME
                            && ends.contains(in.current().text())) {
                        depth--;
                        return out;
                    }
                    out.add(statement());
                    in.expect(TokenType.BLOCK_END);
                }
                default -> throw TemplateException.syntax(t.line(), "unexpected token");
            }
        }
        if (!ends.isEmpty()) {
            throw TemplateException.syntax(
                    in.line(), "the template ends where one of " + ends + " is missing");
        }
        depth--;
        return out;
    }

    /** The rest of an opening tag, the body, and the name of the tag that ends it. */
    private List<Stmt> block(String... ends) {
        in.skipOp(":");
        in.expect(TokenType.BLOCK_END);
        return body(Set.of(ends));
    }

    private Stmt statement() {
        if (in.current().type() != TokenType.NAME) {
            throw in.unexpected("the name of a tag");
        }
        Token tag = in.next();
        int line = tag.line();
        return switch (tag.text()) {
            case "for" -> loop(line);
            case "if" -> branches();
            case "set" -> set();
            case "macro" -> {
                String name = name(line);
                List<String> params = new ArrayList<>();
                List<Expr> defaults = new ArrayList<>();
                signature(params, defaults);
                List<Stmt> body = block("endmacro");
                in.next();
                yield new Ast.Macro(name, new Signature(params, defaults, body, line));
            }
            case "call" -> callBlock(line);
            case "filter" -> {
                Expr filter = expressions.blockFilters(null);
                List<Stmt> body = block("endfilter");
                in.next();
                yield new Ast.FilterBlock(filter, body);
            }
            case "generation" -> {
                List<Stmt> body = block("endgeneration");
                in.next();
                yield new Ast.CallBlock(
                        null, new Signature(List.of(), List.of(), body, line), line);
            }
            case "break" -> new Ast.Break(line);
            case "continue" -> new Ast.Continue(line);
            default -> {
                if (REFUSED.contains(tag.text())) {
                    throw TemplateException.unsupported(line, "the tag '" + tag.text() + "'");
                }
                throw TemplateException.syntax(line, "unknown tag '" + tag.text() + "'");
            }
        };
    }

    private String name(int line) {
        String name = in.expectName();
        if (ExpressionParser.isConstant(name)) {
            throw TemplateException.syntax(line, "nothing can be assigned to " + name);
        }
        return name;
    }

    private Stmt loop(int line) {
        Target target = target(false);
        if (!in.skipName("in")) {
            throw in.unexpected("'in'");
        }
        Expr over = expressions.tuple(false, false, "recursive");
        Expr test = in.skipName("if") ? expressions.expression(true) : null;
        if (in.isName("recursive")) {
            throw TemplateException.unsupported(line, "a recursive loop");
        }
        List<Stmt> body = block("endfor", "else");
        List<Stmt> otherwise = List.of();
        if (in.next().text().equals("else")) {
            otherwise = block("endfor");
            in.next();
        }
        return new Ast.For(target, over, test, body, otherwise, line);
    }

    private Stmt branches() {
        List<Ast.Branch> branches = new ArrayList<>();
        while (true) {
            Expr test = expressions.tuple(false, false, "");
            branches.add(new Ast.Branch(test, block("elif", "else", "endif")));
            String end = in.next().text();
            if (end.equals("endif")) {
                return new Ast.If(branches, List.of());
            }
            if (end.equals("else")) {
                List<Stmt> otherwise = block("endif");
                in.next();
                return new Ast.If(branches, otherwise);
            }
        }
    }

    private Stmt set() {
        Target target = target(true);
        if (in.skipOp("=")) {
            return new Ast.Set(target, expressions.tuple(true, false, ""));
        }
        Expr filter = in.skipOp("|") ? expressions.blockFilters(null) : null;
        List<Stmt> body = block("endset");
        in.next();
        return new Ast.SetBlock(target, filter, body);
    }

    /** {@code a}, {@code a, b}, {@code (a, b)}, and with namespaces {@code ns.a}. */
    private Target target(boolean withNamespace) {
        List<Target> items = new ArrayList<>();
        boolean isTuple = false;
        while (true) {
            if (!items.isEmpty()) {
                in.expectOp(",");
            }
            TokenType type = in.current().type();
            boolean end =
                    type == TokenType.VARIABLE_END || type == TokenType.BLOCK_END || in.isOp(")");
            if (end || (!withNamespace && in.isName("in"))) {
                break;
            }
            items.add(simpleTarget(withNamespace));
            if (!in.isOp(",")) {
                break;
            }
            isTuple = true;
        }
        if (!isTuple && items.size() == 1) {
            return items.get(0);
        }
        if (items.isEmpty()) {
            throw in.unexpected("a name");
        }
        return new Ast.TupleTarget(items);
    }

    private Target simpleTarget(boolean withNamespace) {
        Token t = in.current();
        if (withNamespace
                && t.type() == TokenType.NAME
                && in.look().is(TokenType.OPERATOR, ".")
                && !ExpressionParser.isConstant(t.text())) {
            in.next();
            in.next();
            return new Ast.NamespaceTarget(t.text(), in.expectName());
        }
        return asTarget(expressions.primary(), t.line());
    }

    private static Target asTarget(Expr e, int line) {
        return switch (e) {
            case Ast.Name name -> new Ast.NameTarget(name.name());
            case Ast.TupleOf tuple ->
                    new Ast.TupleTarget(
                            tuple.items().stream().map(item -> asTarget(item, line)).toList());
            default -> throw TemplateException.syntax(line, "nothing can be assigned to that");
        };
    }

    private void signature(List<String> params, List<Expr> defaults) {
        in.expectOp("(");
        while (!in.isOp(")")) {
            if (!params.isEmpty()) {
                in.expectOp(",");
            }
            String param = name(in.line());
            if (params.contains(param)) {
                throw TemplateException.syntax(in.line(), "two parameters are named " + param);
            }
            params.add(param);
            if (in.skipOp("=")) {
                defaults.add(expressions.expression(true));
            } else if (!defaults.isEmpty()) {
                throw TemplateException.syntax(
                        in.line(), "a parameter without default follows one with");
            }
        }
        in.expectOp(")");
    }

    private Stmt callBlock(int line) {
        List<String> params = new ArrayList<>();
        List<Expr> defaults = new ArrayList<>();
        if (in.isOp("(")) {
            signature(params, defaults);
        }
        if (!(expressions.expression(true) instanceof Ast.Call call)) {
            throw TemplateException.syntax(line, "a call block has to call something");
        }
        List<Stmt> body = block("endcall");
        in.next();
        return new Ast.CallBlock(call, new Signature(params, defaults, body, line), line);
    }
}
