package io.warmpath.tokens.jinja;

import io.warmpath.tokens.jinja.Lexer.Token;
import io.warmpath.tokens.jinja.Lexer.TokenType;
import java.util.List;

/** Tokens with a place in them. */
final class TokenStream {
    private final List<Token> tokens;
    private int at;

    TokenStream(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token current() {
        return tokens.get(at);
    }

    int line() {
        return current().line();
    }

    Token look() {
        return tokens.get(Math.min(at + 1, tokens.size() - 1));
    }

    Token next() {
        Token token = tokens.get(at);
        if (at < tokens.size() - 1) {
            at++;
        }
        return token;
    }

    boolean isName(String name) {
        return current().is(TokenType.NAME, name);
    }

    boolean isOp(String op) {
        return current().is(TokenType.OPERATOR, op);
    }

    boolean skipName(String name) {
        boolean found = isName(name);
        if (found) {
            next();
        }
        return found;
    }

    boolean skipOp(String op) {
        boolean found = isOp(op);
        if (found) {
            next();
        }
        return found;
    }

    void expectOp(String op) {
        if (!skipOp(op)) {
            throw unexpected("'" + op + "'");
        }
    }

    String expectName() {
        if (current().type() != TokenType.NAME) {
            throw unexpected("a name");
        }
        return next().text();
    }

    void expect(TokenType type) {
        if (current().type() != type) {
            throw unexpected(words(type));
        }
        next();
    }

    TemplateException unexpected(String wanted) {
        return TemplateException.syntax(line(), "expected " + wanted + ", found " + found());
    }

    String found() {
        Token t = current();
        return switch (t.type()) {
            case NAME, OPERATOR, INTEGER, FLOAT -> "'" + t.text() + "'";
            case STRING -> "a string";
            default -> words(t.type());
        };
    }

    private static String words(TokenType type) {
        return switch (type) {
            case EOF -> "the end of the template";
            case BLOCK_END -> "the end of the tag ('%}')";
            case VARIABLE_END -> "the end of the expression ('}}')";
            case DATA -> "text";
            default -> "a " + type.toString().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
        };
    }
}
