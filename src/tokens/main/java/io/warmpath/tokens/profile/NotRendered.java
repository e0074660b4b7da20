package io.warmpath.tokens.profile;

/** Ends a normaliser with its answer. Does not leave this package. */
final class NotRendered extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient EnginePrompt answer;

    private NotRendered(EnginePrompt answer) {
        super(answer.toString(), null, false, false);
        this.answer = answer;
    }

    EnginePrompt answer() {
        return answer;
    }

    static NotRendered invalid(String path, String what) {
        return new NotRendered(new EnginePrompt.Invalid(path, "`" + path + "` " + what));
    }

    static NotRendered unpredictable(String why) {
        return new NotRendered(new EnginePrompt.Unpredictable(why));
    }
}
