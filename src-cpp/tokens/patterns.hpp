/// The pre-tokenisers of known models, by hand: what each regular expression matches at a place, and nothing
/// more.
///
/// A matcher's `match(p, end)` is the end of the match that begins at p, or p when none does. Texts are well
/// formed and not empty. Alternatives are tried in the expression's order; where it would backtrack, the
/// comment says to where.
#pragma once

#include "tokens/unicode.hpp"

namespace kvindex::tokens {

/// Steps between the places of a text.
class scanner {
public:
    struct one {
        char_class kind;
        std::uint32_t length;
    };

    one at(const std::uint8_t* p) const {
        if (*p < 0x80) {
            return {m_data.ascii[*p], 1};
        }
        const decoded d = decode(p);
        return {m_data.classes[d.c], d.length};
    }

    /// Behind the characters of these classes, `most` of them.
    const std::uint8_t* while_in(char_class classes, const std::uint8_t* p, const std::uint8_t* end) const {
        while (p != end) {
            const one c = at(p);
            if ((c.kind & classes) == 0) {
                break;
            }
            p += c.length;
        }
        return p;
    }

    /// Behind the characters of none of these classes.
    const std::uint8_t* while_not_in(char_class classes, const std::uint8_t* p, const std::uint8_t* end) const {
        while (p != end) {
            const one c = at(p);
            if ((c.kind & classes) != 0) {
                break;
            }
            p += c.length;
        }
        return p;
    }

    const std::uint8_t* at_most(int most, char_class classes, const std::uint8_t* p,
                                const std::uint8_t* end) const {
        for (int i = 0; i < most && p != end; i++) {
            const one c = at(p);
            if ((c.kind & classes) == 0) {
                break;
            }
            p += c.length;
        }
        return p;
    }

    /// `\s+(?!\S)|\s+` at white space.
    const std::uint8_t* spaces(const std::uint8_t* p, const std::uint8_t* end) const {
        const std::uint8_t* last = p;
        const std::uint8_t* q = p;
        while (q != end) {
            const one c = at(q);
            if ((c.kind & white) == 0) {
                // All but the last one, when that leaves any: it goes with what follows.
                return last == p ? q : last;
            }
            last = q;
            q += c.length;
        }
        return end;
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+` at white space.
    const std::uint8_t* lines_or_spaces(const std::uint8_t* p, const std::uint8_t* end) const {
        const std::uint8_t* last = p;
        const std::uint8_t* behind_line_end = nullptr;
        const std::uint8_t* q = p;
        while (q != end) {
            const one c = at(q);
            if ((c.kind & white) == 0) {
                break;
            }
            last = q;
            q += c.length;
            if (c.kind == line_end) {
                behind_line_end = q;
            }
        }
        if (behind_line_end != nullptr) {
            return behind_line_end;
        }
        return q == end || last == p ? q : last;
    }

private:
    const unicode_data& m_data = unicode_data::get();
};

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)`: where it ends, or p. The long s folds to s.
inline const std::uint8_t* contraction(const std::uint8_t* p, const std::uint8_t* end) {
    if (end - p < 2 || *p != '\'') {
        return p;
    }
    const auto small = [end](const std::uint8_t* q) { return q < end ? *q | 0x20 : 0; };
    switch (small(p + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
        return p + 2;
    case 'r':
    case 'v':
        return small(p + 2) == 'e' ? p + 3 : p;
    case 'l':
        return small(p + 2) == 'l' ? p + 3 : p;
    default:
        return end - p >= 3 && p[1] == 0xc5 && p[2] == 0xbf ? p + 3 : p;
    }
}

/// GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class gpt2_pattern : scanner {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        if (*p == '\'') {
            const std::uint8_t* const behind = contraction(p, end);
            // Small letters only.
            if (behind != p && (p[1] & 0x20) != 0 && p[1] < 0x80 && (behind - p < 3 || (p[2] & 0x20) != 0)) {
                return behind;
            }
        }
        const std::uint8_t* const q = *p == ' ' && end - p > 1 ? p + 1 : p;
        const char_class kind = at(q).kind;
        if ((kind & white) != 0) {
            return spaces(p, end);
        }
        if ((kind & letter) != 0) {
            return while_in(letter, q, end);
        }
        return (kind & number) != 0 ? while_in(number, q, end) : while_not_in(white | letter | number, q, end);
    }
};

/// Llama 3, GLM, Qwen: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[Words]+|\p{N}{1,Digits}|
/// ?[^\s[Words]\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
template <int Digits, char_class Words>
class words_pattern : scanner {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        if (*p == '\'') {
            const std::uint8_t* const behind = contraction(p, end);
            if (behind != p) {
                return behind;
            }
        }
        const one first = at(p);
        if ((first.kind & Words) != 0) {
            // A mark may be taken as the character in front; the run is the same.
            return while_in(Words, p + first.length, end);
        }
        if ((first.kind & number) != 0) {
            return at_most(Digits - 1, number, p + first.length, end);
        }
        const std::uint8_t* const q = p + first.length;
        const char_class next = q != end ? at(q).kind : char_class{white};
        if (first.kind != line_end && (next & Words) != 0) {
            return while_in(Words, q, end);
        }
        const bool marks = (first.kind & white) == 0 || (*p == ' ' && (next & (white | number)) == 0);
        if (marks) {
            return while_in(line_end, while_not_in(white | number | Words, q, end), end);
        }
        return lines_or_spaces(p, end);
    }
};

/// o200k (gpt-oss, Llama 4) and tekken:
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+C?|
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*C?|\p{N}{1,Digits}|
/// ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ with C = (?i:'s|'t|'re|'ve|'m|'ll|'d), for o200k.
template <int Digits, bool Contractions>
class cased_pattern : scanner {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        const one first = at(p);
        const std::uint8_t* const q = p + first.length;
        if ((first.kind & (letter | number | line_end)) == 0 && q != end) {
            const std::uint8_t* const behind = word(q, end, (first.kind & mark) == 0);
            if (behind != q) {
                return behind;
            }
        }
        if ((first.kind & (letter | mark)) != 0) {
            return word(p, end, true);
        }
        if ((first.kind & number) != 0) {
            return at_most(Digits - 1, number, q, end);
        }
        const bool before_marks = *p == ' ' && q != end && (at(q).kind & (white | letter | number)) == 0;
        if ((first.kind & white) == 0 || before_marks) {
            const std::uint8_t* behind = while_not_in(white | letter | number, q, end);
            while (behind != end && (*behind == '\r' || *behind == '\n' || *behind == '/')) {
                behind++;
            }
            return behind;
        }
        return lines_or_spaces(p, end);
    }

private:
    static constexpr char_class high = upper | other_letter | mark;
    static constexpr char_class low = lower | other_letter | mark;

    /// `[high]*[low]+C?`, or else `[high]+C?` when `capitals` may do; p when neither begins here.
    const std::uint8_t* word(const std::uint8_t* p, const std::uint8_t* end, bool capitals) const {
        const std::uint8_t* behind_low = nullptr; // behind the last one of the run that is low too
        const std::uint8_t* q = p;
        while (q != end) {
            const one c = at(q);
            if ((c.kind & high) == 0) {
                if ((c.kind & lower) != 0) {
                    return tail(while_in(low, q, end), end);
                }
                break;
            }
            q += c.length;
            if ((c.kind & low) != 0) {
                behind_low = q;
            }
        }
        // No small letter behind the run: given back up to the last one that may end a word.
        if (behind_low != nullptr) {
            return tail(behind_low, end);
        }
        return q != p && capitals ? tail(q, end) : p;
    }

    const std::uint8_t* tail(const std::uint8_t* p, const std::uint8_t* end) const {
        return Contractions ? contraction(p, end) : p;
    }
};

/// DeepSeek V3, first step: \p{N}{1,3}
class three_digits_pattern : scanner {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        return at_most(3, number, p, end);
    }
};

/// DeepSeek V3, second step: [一-龥぀-ゟ゠-ヿ]+
class cjk_pattern {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        while (p != end && *p >= 0xe3 && *p < 0xea) {
            const char32_t c = decode(p).c;
            if (!((c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff))) {
                break;
            }
            p += 3;
        }
        return p;
    }
};

/// DeepSeek V3, third step:
/// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
/// ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
class deepseek_pattern : scanner {
public:
    const std::uint8_t* match(const std::uint8_t* p, const std::uint8_t* end) const {
        const one first = at(p);
        const std::uint8_t* q = p + first.length;
        if (*p < 0x80 && first.kind == punctuation) {
            while (q != end && static_cast<unsigned>((*q | 0x20) - 'a') < 26) {
                q++;
            }
            if (q != p + 1) {
                return q;
            }
        }
        if ((first.kind & (letter | mark)) != 0) {
            return while_in(letter | mark, q, end);
        }
        const char_class next = q != end ? at(q).kind : char_class{0};
        if ((first.kind & (line_end | punctuation)) == 0 && (next & (letter | mark)) != 0) {
            return while_in(letter | mark, q, end);
        }
        if (first.kind == punctuation || (*p == ' ' && next == punctuation)) {
            return while_in(line_end, while_in(punctuation, q, end), end);
        }
        return (first.kind & white) != 0 ? lines_or_spaces(p, end) : p;
    }
};

/// Which of them, as in kvtokens.h.
enum class pattern : std::uint32_t {
    gpt2,
    llama3,
    qwen2,
    qwen35,
    o200k,
    tekken,
    three_digits,
    cjk,
    deepseek,
};
constexpr std::uint32_t pattern_count = 9;

/// Calls f with the matcher.
template <typename F>
void with_matcher(pattern which, F&& f) {
    switch (which) {
    case pattern::gpt2:
        return f(gpt2_pattern{});
    case pattern::llama3:
        return f(words_pattern<3, letter>{});
    case pattern::qwen2:
        return f(words_pattern<1, letter>{});
    case pattern::qwen35:
        return f(words_pattern<1, letter | mark>{});
    case pattern::o200k:
        return f(cased_pattern<3, true>{});
    case pattern::tekken:
        return f(cased_pattern<1, false>{});
    case pattern::three_digits:
        return f(three_digits_pattern{});
    case pattern::cjk:
        return f(cjk_pattern{});
    case pattern::deepseek:
        return f(deepseek_pattern{});
    }
}

/// Cuts a text at the matches: each match is a piece, and what lies between two matches is one.
template <typename M, typename F>
void split(const M& matcher, const std::uint8_t* p, const std::uint8_t* end, F&& piece) {
    const std::uint8_t* between = p;
    while (p != end) {
        const std::uint8_t* const behind = matcher.match(p, end);
        if (behind == p) {
            p += decode(p).length;
            continue;
        }
        if (between != p) {
            piece(between, p);
        }
        piece(p, behind);
        p = between = behind;
    }
    if (between != p) {
        piece(between, p);
    }
}

} // namespace kvindex::tokens
