package io.warmpath.tokens.jinja;

/** A template cannot be loaded, or a conversation cannot be rendered with it. */
public final class TemplateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whose doing it is. */
    public enum Kind {
        /** No Jinja could load this source. */
        SYNTAX,
        /** Jinja could; this implementation does not, and says so instead of guessing. */
        UNSUPPORTED,
        /** The template refused the conversation itself; the message is its own words. */
        RAISED,
        /** The template failed on this conversation, as it would under Jinja. */
        FAILED,
        /** The template did too much or wrote too much. */
        BUDGET
    }

    private final Kind kind;

    TemplateException(Kind kind, String message) {
        super(message, null, true, kind == Kind.SYNTAX || kind == Kind.UNSUPPORTED);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** Jinja would say the same: the conversation and the template do not go together. */
    public boolean isItsOwn() {
        return kind == Kind.RAISED || kind == Kind.FAILED;
    }

    static TemplateException syntax(int line, String what) {
        return new TemplateException(Kind.SYNTAX, "line " + line + ": " + what);
    }

    static TemplateException unsupported(int line, String what) {
        return new TemplateException(
                Kind.UNSUPPORTED, "line " + line + ": " + what + " is not supported");
    }

    /** Only seen while rendering, when a value turns out to be of a kind that is not known here. */
    static TemplateException unsupported(String what) {
        return new TemplateException(Kind.UNSUPPORTED, what + " is not supported");
    }

    static TemplateException failed(String why) {
        return new TemplateException(Kind.FAILED, why);
    }
}
