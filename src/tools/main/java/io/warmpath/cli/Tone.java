package io.warmpath.cli;

/** How a text looks where there are colours; never the only thing that tells something. */
enum Tone {
    PLAIN(""),
    STRONG("1"),
    FAINT("2"),
    GOOD("32"),
    WARNING("33"),
    BAD("31");

    private final String code;

    Tone(String code) {
        this.code = code;
    }

    String paint(String text, boolean colours) {
        return colours && !code.isEmpty() && !text.isBlank()
                ? "\u001b[" + code + "m" + text + "\u001b[m"
                : text;
    }
}
